#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

#include <algorithm>
#include <numeric>

namespace mezzo {
namespace {

std::vector<Spec> infer_split(const OpCall& call) {
  const auto axis = static_cast<std::size_t>(call.attributes.get<std::int64_t>("axis"));
  const auto& sizes = call.attributes.get<Shape>("sizes");
  const Spec& whole = call.inputs[0];
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; }) ||
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) != whole.shape[axis]) {
    fail<ShapeError>(call.where, "sections {} must make up input axis {}; got shape {}", detail::numbers_text(sizes),
                     axis, whole.shape);
  }
  std::vector<Spec> out(sizes.size(), whole);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].shape[axis] = sizes[i];
  return out;
}

Values split_gradient(const GradientContext& context) {
  Values parts;
  for (std::size_t i = 0; i < context.attributes().get<Shape>("sizes").size(); ++i) {
    const Spec& part = context.output_spec(i);
    parts.push_back(context.cotangent(i).defined() ? context.cotangent(i) : Value(Tensor(part.shape, part.dtype)));
  }
  return {concat(parts, context.attributes().get<std::int64_t>("axis"))};
}

}  // namespace

Op detail::define_split() {
  Op op;
  op.infer = infer_split;
  op.gradient = split_gradient;
  return op;
}

Values split(const Value& x, const detail::Ints& sections, std::int64_t axis) {
  const std::int64_t along = detail::normalize_axis(axis, x.shape().size(), detail::current_label("split"));
  const std::int64_t size = x.shape()[static_cast<std::size_t>(along)].or_unknown();
  Shape sizes = sections.numbers();
  if (sizes.size() == 1 && sizes[0] > 0 && size % sizes[0] == 0) {
    sizes.assign(static_cast<std::size_t>(sizes[0]), size / sizes[0]);
  }
  return insert(ops::split, {x}, {{"axis", along}, {"sizes", sizes}});
}

}  // namespace mezzo
