#include <mezzo/layers/activations/prelu.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

void PReLU::build(const Shape& input) {
  detail::require_rank_at_least(label(), input, 2);
  Shape shape(input.begin() + 1, input.end());
  for (const std::int64_t axis : options_.shared_axes.numbers()) {
    if (axis < 1 || axis >= static_cast<std::int64_t>(input.size())) {
      fail<ValueError>(label(), "shared_axes must lie in [1, {}); got {}", input.size(), axis);
    }
    shape[static_cast<std::size_t>(axis) - 1] = 1;
  }
  const bool flat = std::count_if(shape.begin(), shape.end(), [](std::int64_t size) { return size != 1; }) <= 1;
  add_weight(alpha_, {.shape = shape,
                      .initializer = options_.alpha_initializer,
                      .regularizer = options_.alpha_regularizer,
                      .constraint = options_.alpha_constraint,
                      .file_name = "weight",
                      .file_shape = flat && shape.size() > 1 ? Shape{element_count(shape)} : Shape{}});
}

}  // namespace mezzo
