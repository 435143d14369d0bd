#pragma once
#include <mezzo/nn/variable.hpp>

namespace mezzo::detail {

/// The kernel of a layer with the options kernel_initializer, kernel_regularizer and kernel_constraint. `file_axes`:
/// its axes in the order of weight files. `inputs`: axes that its product sums over.
template <class Options>
WeightOptions kernel_weight(const Options& options, const Shape& shape, const Shape& file_axes, const Shape& inputs) {
  return {.shape = shape,
          .initializer = options.kernel_initializer,
          .regularizer = options.kernel_regularizer,
          .constraint = options.kernel_constraint,
          .file_name = "weight",
          .file_axes = file_axes,
          .quantizable = {.inputs = inputs}};
}

/// The bias of a layer with the options bias_initializer, bias_regularizer and bias_constraint.
template <class Options>
WeightOptions bias_weight(const Options& options, const Shape& shape) {
  return {.shape = shape,
          .initializer = options.bias_initializer,
          .regularizer = options.bias_regularizer,
          .constraint = options.bias_constraint};
}

}  // namespace mezzo::detail
