#include <mezzo/backends/reference/creators.hpp>

#include <mezzo/ops/op_set.hpp>

namespace mezzo {

std::vector<detail::Implementation> reference_implementations() {
  return {
#define MEZZO_OP(name, ...) {"reference", &ops::name, reference::create_##name, true},
#define MEZZO_UNARY_OP(name, ...) {"reference", &ops::name, reference::create_##name, true},
#define MEZZO_ALIAS_OP(...)
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP
  };
}

}  // namespace mezzo
