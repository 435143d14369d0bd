#include <algorithm>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_pad(const OpCall& call) {
  Spec out = call.inputs[0];
  for (const char* side : {"before", "after"}) {
    const auto& numbers = call.attributes.get<Shape>(side);
    detail::require_number_for_each_axis(call, side, numbers);
    for (std::size_t axis = 0; axis < numbers.size(); ++axis) {
      if (numbers[axis] < 0) {
        fail<ValueError>(call.where, "{} must not be negative; got {}", side, detail::numbers_text(numbers));
      }
      std::int64_t& size = out.shape[axis];
      if (size < 0 && numbers[axis] > 0) {
        fail<ShapeError>(call.where, "input axis {} must have a known size to be padded; got shape {}", axis,
                         call.inputs[0].shape);
      }
      if (size >= 0) size += numbers[axis];
    }
  }
  return {out};
}

Values pad_gradient(const GradientContext& context) {
  return {slice(context.cotangent(), {context.attributes().get<Shape>("before"), context.input(0).shape()})};
}

}  // namespace

Op detail::define_pad() {
  Op op;
  op.infer = infer_pad;
  op.gradient = pad_gradient;
  return op;
}

namespace {

/// Index in an axis of `size` elements that is repeated at an index outside of it.
std::int64_t repeated(std::int64_t place, std::int64_t size, const std::string& mode) {
  if (mode == "edge") return std::clamp<std::int64_t>(place, 0, size - 1);
  if (mode == "wrap") return ((place % size) + size) % size;
  const bool twice = mode == "symmetric";  // the first and the last element repeat
  const std::int64_t period = twice ? 2 * size : std::max<std::int64_t>(2 * (size - 1), 1);
  const std::int64_t at = ((place % period) + period) % period;
  return at < size ? at : period - at - (twice ? 1 : 0);
}

}  // namespace

Value pad(const Value& x, const PadOptions& options) {
  const std::string where = detail::current_label("pad");
  for (std::size_t axis = 1; axis < std::min({x.shape().size(), options.before.size(), options.after.size()}); ++axis) {
    if (x.shape()[axis] >= 0 || (options.before[axis] == 0 && options.after[axis] == 0)) continue;
    return with_sizes([options](const Value& y) { return pad(y, options); }, x);
  }
  const auto padded = [&](const Value& value, const Shape& before, const Shape& after) {
    return insert_one(ops::pad, {value}, {{"before", before}, {"after", after}});
  };
  if (options.mode == "constant") {
    const Value zeros = padded(x, options.before, options.after);
    if (options.constant_values == 0) return zeros;
    Shape inside = x.shape();
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (options.before[i] == 0 && options.after[i] == 0) inside[i] = 1;  // also if it is not known
    }
    const Value mask = padded(full(inside, 1, DType::boolean), options.before, options.after);
    return mezzo::where(mask, zeros, options.constant_values);
  }
  const std::string& mode = options.mode;
  if (mode != "edge" && mode != "reflect" && mode != "symmetric" && mode != "wrap") {
    fail_unknown(where, "mode", mode, {"constant", "edge", "reflect", "symmetric", "wrap"});
  }
  if (options.constant_values != 0) {
    fail<ValueError>(where, "constant_values must be 0 for mode \"{}\"; got {}", mode, options.constant_values);
  }
  ops::pad.infer({{{x.shape(), x.dtype()}}, {{"before", options.before}, {"after", options.after}}, where});  // checks
  Value out = x;
  for (std::size_t axis = 0; axis < x.shape().size(); ++axis) {
    const std::int64_t size = x.shape()[axis].or_unknown(), before = options.before[axis], after = options.after[axis];
    if (before == 0 && after == 0) continue;
    if (size == 0) fail<ShapeError>(where, "input axis {} has no elements to repeat; got shape {}", axis, x.shape());
    Shape places;
    for (std::int64_t i = -before; i < size + after; ++i) places.push_back(repeated(i, size, mode));
    out = take(out, detail::int64s(places, {size + before + after}), static_cast<std::int64_t>(axis));
  }
  return out;
}

}  // namespace mezzo
