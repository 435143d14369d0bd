#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_truth(const OpCall& call) {
  if (call.inputs[0].dtype != DType::boolean) {
    fail<DTypeError>(call.where, "input 0 must be bool; got {}", call.inputs[0].dtype);
  }
  return detail::infer_reduction(call);
}

Op truth() {
  Op op;
  op.infer = infer_truth;
  return op;
}

Value reduce_truth(const Op& op, const Value& x, const ReduceOptions& options) {
  const Shape axes = detail::normalize_axes(options.axes, x.shape().size(), detail::current_label(op.name));
  return insert_one(op, {x.defined() ? detail::as(x, DType::boolean) : x},
                    {{"axes", axes}, {"keepdims", options.keepdims}});
}

}  // namespace

Op detail::define_any() { return truth(); }

Op detail::define_all() { return truth(); }

Value any(const Value& x, const ReduceOptions& options) { return reduce_truth(ops::any, x, options); }

Value all(const Value& x, const ReduceOptions& options) { return reduce_truth(ops::all, x, options); }

Value count_nonzero(const Value& x, const Shape& axes) { return sum(detail::as(x, DType::boolean), {axes}); }

}  // namespace mezzo
