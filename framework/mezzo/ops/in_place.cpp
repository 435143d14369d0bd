#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/table.hpp>

namespace mezzo {
namespace {

/// An op of two operands whose second follows the first where an op list doesn't name it.
Op following(const char* name, std::vector<std::string> aliases, const char* runs, CastRule cast = {}) {
  Op op;
  op.name = name;
  op.aliases = std::move(aliases);
  op.cast = std::move(cast);
  op.cast.by_first = true;
  op.runs = runs;
  op.infer = detail::infer_broadcast;
  return op;
}

Value& assign(const char* op, Value& a, const Value& b) { return a = insert_one(find_op(op), {a, b}); }

}  // namespace

Op detail::bias_add_op() { return following("bias_add", {}, "add"); }
Op detail::iadd_op() { return following("iadd", {"add_"}, "add"); }
Op detail::isub_op() { return following("isub", {"sub_"}, "subtract"); }
Op detail::imul_op() { return following("imul", {"mul_"}, "multiply"); }
Op detail::itruediv_op() { return following("itruediv", {"div_"}, "divide", {{Cast::promote}, true}); }

Value bias_add(const Value& x, const Value& bias) { return insert_one(find_op("bias_add"), {x, bias}); }
Value& operator+=(Value& a, const Value& b) { return assign("iadd", a, b); }
Value& operator-=(Value& a, const Value& b) { return assign("isub", a, b); }
Value& operator*=(Value& a, const Value& b) { return assign("imul", a, b); }
Value& operator/=(Value& a, const Value& b) { return assign("itruediv", a, b); }

}  // namespace mezzo
