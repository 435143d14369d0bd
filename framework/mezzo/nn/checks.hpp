#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/shape.hpp>

// What layers and models ask of their options and inputs.
namespace mezzo::detail {

/// A ValueError unless an option is at least 1: "[Dense] units must be at least 1; got 0".
void require_positive(const std::string& where, const std::string& option, std::int64_t value);

/// A ValueError unless one option divides another: "[Bert] num_attention_heads must divide hidden_size; got 5 and 768".
void require_divides(const std::string& where, const std::string& option, std::int64_t value, const std::string& other,
                     std::int64_t multiple);

/// A ShapeError unless an input has this many axes; `axes` names them: "(batch, height, width, channels)".
void require_rank(const std::string& where, const Shape& input, std::size_t rank, const std::string& axes);

/// A ShapeError unless an input has at least this many axes.
void require_rank_at_least(const std::string& where, const Shape& input, std::size_t rank);

/// A ShapeError unless the last axis of an input has this size; `meaning` tells of what: "rows of kernel".
void require_last_axis(const std::string& where, const Shape& input, std::int64_t size, const std::string& meaning);

}  // namespace mezzo::detail
