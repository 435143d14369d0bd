#pragma once
#include <mezzo/nn/fields.hpp>

// Parts of describe() that several layers share.
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

/// Options of layers with gamma and beta.
template <class Options>
void describe_scale(Fields& fields, Options& options) {
  fields("center", options.center);
  fields("scale", options.scale);
  fields("beta_initializer", options.beta_initializer);
  fields("gamma_initializer", options.gamma_initializer);
  fields("beta_regularizer", options.beta_regularizer);
  fields("gamma_regularizer", options.gamma_regularizer);
  fields("beta_constraint", options.beta_constraint);
  fields("gamma_constraint", options.gamma_constraint);
}

}  // namespace mezzo
