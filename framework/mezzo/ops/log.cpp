#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {
namespace {

Values log_gradient(const GradientContext& context) { return {context.cotangent() / context.input(0)}; }

}  // namespace

Op detail::log_op() {
  Op op;
  op.name = "log";
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = log_gradient;
  return op;
}

Value log(const Value& x) { return insert_one(find_op("log"), {x}); }

}  // namespace mezzo
