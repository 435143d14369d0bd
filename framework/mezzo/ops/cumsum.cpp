#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/shape.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_scan(const OpCall& call) {
  if (call.inputs[0].dtype == DType::boolean) {
    fail<DTypeError>(call.where, "input 0 must hold numbers; got {}", call.inputs[0].dtype);
  }
  return {call.inputs[0]};
}

std::vector<Spec> infer_cumprod_gradient(const OpCall& call) {
  detail::require_cotangent(call, 1, call.inputs[0].shape);
  return detail::infer_same(call);
}

Values cumsum_gradient(const GradientContext& context) {
  const Attributes& attributes = context.attributes();
  return {insert_one(ops::cumsum, {detail::cotangent_for(context, 0)},
                     detail::with(attributes, {{"reverse", !attributes.get<bool>("reverse")}}))};
}

Values gradient_of_cumprod(const GradientContext& context) {
  const Attributes& attributes = context.attributes();
  if (attributes.get<bool>("reverse") || attributes.get<bool>("exclusive")) {
    fail<ValueError>(context.where(), "has no gradient of its own as a part of another op's gradient");
  }
  return {insert_one(ops::cumprod_gradient, {context.input(0), context.cotangent()},
                     {{"axis", attributes.get<std::int64_t>("axis")}})};
}

Value scan(const Op& op, const Value& x, std::optional<std::int64_t> axis) {
  const Value number = is_floating(x.dtype()) ? x : detail::as(x, DType::int64);
  const Value line = axis ? number : reshape(number, {-1});
  const std::int64_t along =
      detail::normalize_axis(axis.value_or(0), line.shape().size(), detail::current_label(op.name));
  return insert_one(op, {line}, {{"axis", along}, {"reverse", false}, {"exclusive", false}});
}

/// All of x except the first or the last element along a normalized axis.
Value without_end(const Value& x, std::int64_t axis, bool first) {
  const auto at = static_cast<std::size_t>(axis);
  Shape starts(x.shape().size(), 0), sizes(x.shape().size(), -1);
  if (first) starts[at] = 1;
  if (!first) sizes[at] = x.shape()[at].or_unknown() - 1;
  return slice(x, {starts, sizes});
}

std::int64_t along(std::int64_t axis, const Value& x, const char* name) {
  return detail::normalize_axis(axis, x.shape().size(), detail::current_label(name));
}

Value sum_along(const Value& x, std::int64_t axis) { return sum(x, {{axis}}); }

}  // namespace

Op detail::define_cumsum() {
  Op op;
  op.infer = infer_scan;
  op.gradient = cumsum_gradient;
  return op;
}

Op detail::define_cumprod() {
  Op op;
  op.infer = infer_scan;
  op.gradient = gradient_of_cumprod;
  return op;
}

Op detail::define_cumprod_gradient() {
  Op op;
  op.infer = infer_cumprod_gradient;
  return op;
}

Value cumsum(const Value& x, std::optional<std::int64_t> axis) { return scan(ops::cumsum, x, axis); }

Value cumprod(const Value& x, std::optional<std::int64_t> axis) { return scan(ops::cumprod, x, axis); }

Value diff(const Value& x, std::int64_t n, std::int64_t axis) {
  const std::string where = detail::current_label("diff");
  if (n < 0) fail<ValueError>(where, "n must be at least 0; got {}", n);
  const std::int64_t at = along(axis, x, "diff");
  Value out = x;
  for (; n > 0 && out.shape()[static_cast<std::size_t>(at)] != 0; --n) {
    const Value later = without_end(out, at, true), earlier = without_end(out, at, false);
    out = out.dtype() == DType::boolean ? equal(equal(later, earlier), false) : later - earlier;
  }
  return out;
}

Value trapezoid(const Value& y, double dx, std::int64_t axis) {
  const std::int64_t at = along(axis, y, "trapezoid");
  DType narrow{};
  const Value wide = detail::as_wide(y, narrow);
  if (wide.shape()[static_cast<std::size_t>(at)] == 0) return detail::as(sum_along(wide, at), narrow);
  return detail::as(sum_along(without_end(wide, at, true) + without_end(wide, at, false), at) * (dx / 2), narrow);
}

Value trapezoid(const Value& y, const Value& x, std::int64_t axis) {
  const std::int64_t at = along(axis, y, "trapezoid");
  const std::int64_t size = y.shape()[static_cast<std::size_t>(at)].or_unknown();
  Value places = x;
  if (x.shape().size() == 1 && y.shape().size() > 1) {
    Shape shape(y.shape().size(), 1);
    shape[static_cast<std::size_t>(at)] = x.shape()[0].or_unknown();
    places = reshape(x, shape);
  }
  if (places.shape().size() != y.shape().size() || places.shape()[static_cast<std::size_t>(at)] != size) {
    fail<ShapeError>(detail::current_label("trapezoid"), "x must have y's shape {} or ({},); got {}", y.shape(), size,
                     x.shape());
  }
  DType narrow{}, of_x{};
  const Value wide = detail::as_wide(y, narrow);
  places = detail::as_wide(places, of_x);
  if (size == 0) return detail::as(sum_along(wide, at), narrow);
  const Value widths = without_end(places, at, true) - without_end(places, at, false);
  const Value heights = (without_end(wide, at, true) + without_end(wide, at, false)) * 0.5;
  return detail::as(sum_along(widths * heights, at), narrow);
}

}  // namespace mezzo
