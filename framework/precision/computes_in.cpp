#include <mezzo/precision/computes_in.hpp>
#include <mezzo/precision/op_lists.hpp>

namespace mezzo {

DType computes_in(const Policy& policy) {
  return policy.lists() != nullptr ? policy.lists()->dtype() : policy.compute_dtype();
}

}  // namespace mezzo
