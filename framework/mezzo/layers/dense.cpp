#include <mezzo/layers/dense.hpp>

#include <mezzo/nn/checks.hpp>

namespace mezzo {

Dense::Dense(DenseOptions options) : Layer("Dense", options), options_(std::move(options)) {
  detail::require_positive(label(), "units", options_.units);
}

void Dense::build(const Shape& input) {
  detail::require_rank_at_least(label(), input, 2);
  add_weight(kernel_, {.shape = {input.back(), options_.units},
                       .initializer = options_.kernel_initializer,
                       .regularizer = options_.kernel_regularizer,
                       .constraint = options_.kernel_constraint,
                       .file_name = "weight",
                       .file_axes = {1, 0}});
  if (options_.use_bias) {
    add_weight(bias_, {.shape = {options_.units},
                       .initializer = options_.bias_initializer,
                       .regularizer = options_.bias_regularizer,
                       .constraint = options_.bias_constraint});
  }
}

Value Dense::call(const Value& x) {
  detail::require_rank_at_least(label(), x.shape(), 2);
  detail::require_last_axis(label(), x.shape(), kernel_.shape()[0], "rows of kernel");
  const Value y = matmul(x, kernel_);
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

}  // namespace mezzo
