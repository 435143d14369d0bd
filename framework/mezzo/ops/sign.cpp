#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {

Op detail::sign_op() {
  Op op;
  op.name = "sign";
  op.cast.floats_only = true;
  op.infer = infer_same;
  return op;
}

Value sign(const Value& x) { return insert_one(find_op("sign"), {x}); }

}  // namespace mezzo
