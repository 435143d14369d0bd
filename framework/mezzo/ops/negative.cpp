#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {
namespace {

Values negative_gradient(const GradientContext& context) { return {-context.cotangent()}; }

}  // namespace

Op detail::negative_op() {
  Op op;
  op.name = "negative";
  op.aliases = {"neg"};
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = negative_gradient;
  return op;
}

Value negative(const Value& x) { return insert_one(find_op("negative"), {x}); }

}  // namespace mezzo
