#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

Op detail::define_sign() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  return op;
}

}  // namespace mezzo
