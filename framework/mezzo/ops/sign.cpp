#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

Op detail::define_sign() {
  Op op;
  op.infer = infer_like;
  return op;
}

}  // namespace mezzo
