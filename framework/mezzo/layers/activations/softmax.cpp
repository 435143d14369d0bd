#include <mezzo/layers/activations/softmax.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/masks.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

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
