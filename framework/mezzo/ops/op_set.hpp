#pragma once
#include <mezzo/graph/op.hpp>
#include <mezzo/graph/op_registry.hpp>

/// The library's ops as objects: ops::matmul. They are initialized before main() in an unspecified order; static
/// initializers of other files must not read them.
namespace mezzo::ops {

#define MEZZO_OP(name, ...) extern const Op name;
#define MEZZO_UNARY_OP(name, ...) extern const Op name;
#define MEZZO_ALIAS_OP(name, ...) extern const Op name;
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

/// All ops, in the order of ops.def.
const OpTable& table();

}  // namespace mezzo::ops

/// The parts of each op that its own file defines; name, torch names and widening come from its row in ops.def.
namespace mezzo::detail {

#define MEZZO_OP(name, ...) Op define_##name();
#define MEZZO_UNARY_OP(name, ...) Op define_##name();
#define MEZZO_ALIAS_OP(name, ...) Op define_##name();
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

}  // namespace mezzo::detail
