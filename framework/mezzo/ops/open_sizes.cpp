#include <mezzo/ops/open_sizes.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>

namespace mezzo {
namespace {

using Compute = std::function<Values(const Values&)>;

/// Least size of a trial: a number that many others divide.
constexpr std::int64_t trial_size = 720;

/// Function of a node of sized_op().
struct Sized final : detail::AttributeFunction {
  std::shared_ptr<const detail::AttributeFunction> clone() const override { return std::make_shared<Sized>(*this); }

  Compute compute;
  std::int64_t least = 1;
};

/// Symbols like the inputs, with that size in place of the open ones.
Values trial_inputs(const Values& inputs, std::int64_t size) {
  Values out;
  for (const Value& x : inputs) {
    if (!detail::has_open_size(x)) {
      out.push_back(x);
      continue;
    }
    auto node = std::make_shared<detail::Node>();
    node->op = &input_op();
    node->where = detail::current_label("input");
    Shape shape = x.shape();
    std::replace_if(
        shape.begin() + 1, shape.end(), [](std::int64_t of_axis) { return of_axis < 0; }, size);
    node->outputs = {Spec{.shape = std::move(shape), .dtype = x.dtype()}};
    out.push_back(Value(node, 0).across_border(x.crosses_border()).in_region(x.region()));
  }
  return out;
}

/// Specs of the results, with -1 for sizes in which the trials differ.
std::vector<Spec> specs_of_trials(const Sized& sized, const Values& inputs) {
  const std::int64_t size = (sized.least + trial_size - 1) / trial_size * trial_size;
  std::vector<Spec> out;
  for (const Value& y : sized.compute(trial_inputs(inputs, size))) out.push_back({y.shape(), y.dtype()});
  const Values others = sized.compute(trial_inputs(inputs, 2 * size));
  for (std::size_t i = 0; i < others.size(); ++i) {
    Shape& shape = out[i].shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] != others[i].shape()[axis]) shape[axis] = -1;
    }
  }
  return out;
}

Values insert_sized(const Values& inputs, const Attributes& attributes);

const Op& sized_op() {
  static const Op op = [] {
    Op one;
    one.name = "sized";
    one.reinsert = insert_sized;
    return one;
  }();
  return op;
}

Values insert_sized(const Values& inputs, const Attributes& attributes) {
  const auto& payload = attributes.get<std::shared_ptr<const detail::AttributeFunction>>("function");
  const auto& sized = static_cast<const Sized&>(*payload);
  if (std::none_of(inputs.begin(), inputs.end(), detail::has_open_size)) return sized.compute(inputs);
  auto node = std::make_shared<detail::Node>();
  node->op = &sized_op();
  node->attributes = attributes;
  node->where = detail::current_label("sized");
  node->outputs = specs_of_trials(sized, inputs);
  node->inputs = inputs;
  node->frames = detail::current_frames();
  node->regions = detail::outer_regions();
  return detail::outputs_of(node);
}

}  // namespace

bool detail::has_open_size(const Value& x) {
  const Shape& shape = x.shape();
  return shape.size() > 1 && std::any_of(shape.begin() + 1, shape.end(), [](std::int64_t size) { return size < 0; });
}

Values with_sizes(const Compute& compute, const Values& inputs, std::int64_t least) {
  if (std::none_of(inputs.begin(), inputs.end(), detail::has_open_size)) return compute(inputs);
  auto sized = std::make_shared<Sized>();
  sized->compute = compute;
  sized->least = std::max<std::int64_t>(least, 1);
  return insert_sized(inputs, {{"function", std::shared_ptr<const detail::AttributeFunction>(sized)}});
}

Value with_sizes(const std::function<Value(const Value&)>& compute, const Value& x, std::int64_t least) {
  return with_sizes([compute](const Values& xs) -> Values { return {compute(xs[0])}; }, Values{x}, least).front();
}

}  // namespace mezzo
