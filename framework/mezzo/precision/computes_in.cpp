#include <mezzo/ops/op_lists.hpp>
#include <mezzo/precision/computes_in.hpp>

namespace mezzo {

DType computes_in(const Policy& policy) {
  return policy.lists() != nullptr ? policy.lists()->dtype() : policy.compute_dtype();
}

}  // namespace mezzo
