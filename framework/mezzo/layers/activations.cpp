#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/prelu.hpp>
#include <mezzo/layers/softmax.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/masks.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

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

Softmax::Softmax(SoftmaxOptions options) : Layer("Softmax", options), options_(std::move(options)) {
  if (options_.axis.empty()) fail<ValueError>(label(), "axis must be one number or more; got none");
}

Value Softmax::call(const Value& input) {
  const Value mask = input.mask();
  Value x = input;
  if (mask.defined()) {
    const Shape &shape = x.shape(), &given = mask.shape();
    bool fits = given.size() <= shape.size();
    for (std::size_t i = 0; fits && i < given.size(); ++i) {
      const std::int64_t wanted = shape[shape.size() - 1 - i], got = given[given.size() - 1 - i];
      fits = got == wanted || got == 1 || got < 0 || wanted < 0;
    }
    if (!fits) fail<ShapeError>(label(), "the mask must broadcast to the input {}; got shape {}", shape, given);
    x = where(mask, x, detail::masked_score);
  }
  const Shape& axes = options_.axis.numbers();
  Value y;
  if (axes.size() == 1) {
    y = softmax(x, axes[0]);
  } else {
    DType narrow{};
    const Value wide = detail::as_wide(x, narrow);
    y = detail::as(exp(wide - logsumexp(wide, {detail::normalize_axes(axes, x.shape().size(), label()), true})),
                   narrow);
  }
  return mask.defined() ? where(mask, y, 0.0) : y;
}

}  // namespace mezzo
