#pragma once
#include <string>
#include <vector>

#include <mezzo/core/shape.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// True if the sizes are equal, or those of `expected` open. `batch`: compares axis 0, too.
bool fits(const Shape& given, const Shape& expected, bool batch = true);

/// ": add a batch axis: x.reshape({1, 28, 28, 1})" for a shape that has one axis less than `expected`; "" for others.
std::string batch_axis_hint(const Shape& given, const Shape& expected);

/// Throws a ShapeError for an array that has no batch axis, before it is cut into batches: for a functional model and a
/// Sequential with an Input if it has one axis less than the Input, for other classes if it is one picture or video of
/// the sizes that the model was built for.
void require_batch_axes(const LayerState& model, const std::string& where, const std::vector<NamedTensor>& inputs);

/// Throws a ShapeError if an input of a Sequential has one axis less than its Input.
void require_batch_axis(const std::string& where, std::size_t input, const Shape& given, const Shape& expected);

}  // namespace mezzo::detail
