#include <mezzo/ops/op_set.hpp>

#include <string>
#include <utility>
#include <vector>

#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/basic_ops.hpp>
#include <mezzo/ops/row_flags.hpp>

namespace mezzo {
namespace {

using namespace ops::row_flags;

Op complete(Op op, const char* name, unsigned flags, std::vector<std::string> torch_names) {
  op.name = name;
  op.widens = (flags & WIDEN) != 0;
  op.torch_names = std::move(torch_names);
  return op;
}

}  // namespace

#define MEZZO_OP(name, flags, inputs, attributes, outputs, ...) \
  const Op ops::name = complete(detail::define_##name(), #name, flags, {__VA_ARGS__});
#define MEZZO_UNARY_OP MEZZO_OP
#define MEZZO_ALIAS_OP MEZZO_OP
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

const OpTable& ops::table() {
  static const OpTable all{
#define MEZZO_OP(name, ...) &ops::name,
#define MEZZO_UNARY_OP MEZZO_OP
#define MEZZO_ALIAS_OP MEZZO_OP
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP
  };
  return all;
}

// Functions of elementwise ops of one operand.
#define MEZZO_OP(...)
#define MEZZO_UNARY_OP(name, ...) \
  Value name(const Value& x) { return insert_one(ops::name, {x}); }
#define MEZZO_ALIAS_OP(...)
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

}  // namespace mezzo
