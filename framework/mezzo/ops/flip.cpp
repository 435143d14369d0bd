#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_flip(const OpCall& call) { return {call.inputs[0]}; }

Values flip_gradient(const GradientContext& context) {
  return {insert_one(ops::flip, {detail::cotangent_for(context, 0)}, context.attributes())};
}

}  // namespace

Op detail::define_flip() {
  Op op;
  op.infer = infer_flip;
  op.gradient = flip_gradient;
  return op;
}

Value flip(const Value& x, const detail::Ints& axis) {
  const Shape axes = detail::normalize_axes(axis.numbers(), x.shape().size(), detail::current_label("flip"));
  return axes.empty() ? x : insert_one(ops::flip, {x}, {{"axes", axes}});
}

Value fliplr(const Value& x) { return flip(x, 1); }

Value flipud(const Value& x) { return flip(x, 0); }

Value rot90(const Value& x, std::int64_t k, std::pair<std::int64_t, std::int64_t> axes) {
  const std::string where = detail::current_label("rot90");
  const std::int64_t first = detail::normalize_axis(axes.first, x.shape().size(), where);
  const std::int64_t second = detail::normalize_axis(axes.second, x.shape().size(), where);
  if (first == second) fail<ValueError>(where, "axes must differ; got ({}, {})", axes.first, axes.second);
  switch ((k % 4 + 4) % 4) {
    case 1:
      return swapaxes(flip(x, second), first, second);
    case 2:
      return flip(x, {first, second});
    case 3:
      return flip(swapaxes(x, first, second), second);
    default:
      return x;
  }
}

}  // namespace mezzo
