#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/shape.hpp>
#include <mezzo/core/tensor.hpp>

// Checks of options and inputs that several layers and models share. `where` starts the error text: `[Dense "fc"]`.
namespace mezzo::detail {

/// Throws a ValueError unless `value` is at least 1: "[Dense] units must be at least 1; got 0".
void require_positive(const std::string& where, const std::string& option, std::int64_t value);

/// Throws a ValueError unless `value` is above `least`: "[RotaryEmbedding] max_wavelength must be above 1; got 0".
void require_above(const std::string& where, const std::string& option, double value, double least);

/// Throws a ValueError for NaN and infinities: "[Rescaling] scale must be finite; got nan".
void require_finite(const std::string& where, const std::string& option, double value);

/// The first NaN or infinity of a floating array; nothing if there is none.
std::optional<double> non_finite_number(const Tensor& numbers);

/// Throws a ValueError unless a rate lies in [0, 1): "[LSTM] dropout must lie in [0, 1); got 1".
void require_rate(const std::string& where, const std::string& option, double rate);

/// Throws a ValueError unless `value` divides `multiple`: "[Bert] num_attention_heads must divide hidden_size; got 5
/// and 768".
void require_divides(const std::string& where, const std::string& option, std::int64_t value, const std::string& other,
                     std::int64_t multiple);

/// Throws a ShapeError unless the input has `rank` axes. `axes` names them: "(batch, height, width, channels)".
void require_rank(const std::string& where, const Shape& input, std::size_t rank, const std::string& axes);

/// Throws a ShapeError unless the input has at least `rank` axes.
void require_rank_at_least(const std::string& where, const Shape& input, std::size_t rank);

/// Throws a ShapeError unless the last axis of the input has this size. `meaning` explains the size: "rows of kernel".
void require_last_axis(const std::string& where, const Shape& input, std::int64_t size, const std::string& meaning);

/// Size of an axis of the input that the layer's weights need; negative axes count from the end. A ShapeError if a
/// functional graph leaves it open: "[Dense] input axis -1 must have a known size; got shape (?, ?)".
std::int64_t known_size(const std::string& where, const Shape& input, std::int64_t axis = -1);

}  // namespace mezzo::detail
