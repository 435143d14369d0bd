#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/run_sizes.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_reshape(const OpCall& call) {
  const Shape& from = call.inputs[0].shape;
  Shape to = call.attributes.get<Shape>("shape");
  const std::int64_t count = element_count(from);
  std::int64_t* open = nullptr;
  for (auto& size : to) {
    if (size >= 0) continue;
    if (open != nullptr) fail<ShapeError>(call.where, "at most one size may be -1; got {}", to);
    open = &size;
  }
  if (count < 0) return {{to, call.inputs[0].dtype}};
  if (open != nullptr) {
    *open = 1;
    const std::int64_t known = element_count(to);  // throws for sizes whose product overflows
    *open = known > 0 ? count / known : -1;
  }
  if (element_count(to) != count) {
    fail<ShapeError>(call.where, "cannot reshape {} to {}", from, call.attributes.get<Shape>("shape"));
  }
  return {{to, call.inputs[0].dtype}};
}

Values reshape_gradient(const GradientContext& context) {
  return {reshape(detail::cotangent_for(context, 0), context.input(0).shape())};
}

}  // namespace

Op detail::define_reshape() {
  Op op;
  op.infer = infer_reshape;
  op.gradient = reshape_gradient;
  op.view = true;
  return op;
}

Value reshape(const Value& x, const Shape& shape) { return insert_one(ops::reshape, {x}, {{"shape", shape}}); }

Value reshape(const Value& x, std::initializer_list<Size> shape) { return reshape(x, detail::numbers_of(shape)); }

Value reshape(const Value& x, const Values& shape) {
  const std::string where = detail::current_label("reshape");
  return detail::with_run_sizes(where, {x}, shape, {detail::known_part(shape, where), x.dtype()},
                                [](const Values& xs, const Shape& sizes) { return reshape(xs[0], sizes); });
}

}  // namespace mezzo
