#include <mezzo/ops/tile_matmul.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_tile_matmul(const OpCall& call) {
  detail::require_float(call, 0);
  const Shape& x = call.inputs[0].shape;
  const Shape& g = call.inputs[1].shape;
  if (x.size() != 2 || g.size() != 2 || (x[0] != g[0] && x[0] >= 0 && g[0] >= 0)) {
    fail<ShapeError>(call.where, "operands must be (rows, K) and (rows, N); got {} and {}", x, g);
  }
  return {{{x[1], g[1]}, call.attributes.get<DType>("dtype")}};
}

}  // namespace

Op detail::define_tile_matmul() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_tile_matmul;
  return op;
}

Value detail::tile_matmul(const Value& x, const Value& g, DType dtype) {
  const Draw draw = next_draw();
  const auto rows = [](const Value& value) { return reshape(value, {-1, value.shape().back()}); };
  return insert_one(ops::tile_matmul, {rows(x), rows(g), draw.seed, draw.step}, {{"key", draw.key}, {"dtype", dtype}});
}

}  // namespace mezzo
