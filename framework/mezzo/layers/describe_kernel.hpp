#pragma once
#include <mezzo/nn/fields.hpp>

namespace mezzo {

/// Options of layers with a kernel and a bias.
template <class Options>
void describe_kernel(Fields& fields, Options& options) {
  fields("use_bias", options.use_bias);
  fields("kernel_initializer", options.kernel_initializer);
  fields("bias_initializer", options.bias_initializer);
  fields("kernel_regularizer", options.kernel_regularizer);
  fields("bias_regularizer", options.bias_regularizer);
  fields("activity_regularizer", options.activity_regularizer);
  fields("kernel_constraint", options.kernel_constraint);
  fields("bias_constraint", options.bias_constraint);
}

}  // namespace mezzo
