#include <mezzo/layers/core/dense.hpp>

#include <mezzo/layers/convolutional/kernel_weights.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/weight_product.hpp>

namespace mezzo {

Dense::Dense(DenseOptions options) : Layer("Dense", options), options_(std::move(options)) {
  detail::require_positive(label(), "units", options_.units);
}

void Dense::build(const Shape& input) {
  detail::require_rank_at_least(label(), input, 2);
  add_weight(kernel_,
             detail::kernel_weight(options_, {detail::known_size(label(), input), options_.units}, {1, 0}, {0}));
  detail::allow_adapters(kernel_, {kernel_.shape()[0]}, options_.units);
  if (options_.use_bias) add_weight(bias_, detail::bias_weight(options_, {options_.units}));
}

Value Dense::call(const Value& x) {
  detail::require_rank_at_least(label(), x.shape(), 2);
  detail::require_last_axis(label(), x.shape(), kernel_.shape()[0], "rows of kernel");
  const Value y = detail::weight_product(x, kernel_);
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

}  // namespace mezzo
