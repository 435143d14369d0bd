#include <mezzo/ops/custom_gradient.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

using Function = std::function<CustomGradientResult(const Values&)>;

/// The attribute of a custom_gradient node.
struct GradientFunction final : detail::AttributeFunction {
  Function function;                                      ///< called again for each call of a functional graph
  std::function<Values(const Value& upstream)> gradient;  ///< gradient of this call
};

const GradientFunction& function_of(const Attributes& attributes) {
  return static_cast<const GradientFunction&>(
      *attributes.get<std::shared_ptr<const detail::AttributeFunction>>("function"));
}

Value call(const Function& function, const Values& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].defined()) {
      fail<ValueError>(detail::current_label("custom_gradient"), "input {} must be defined; got an undefined Value", i);
    }
  }
  CustomGradientResult result = function(arguments);
  if (!result.value.defined() || !result.gradient) {
    fail<ValueError>(detail::current_label("custom_gradient"),
                     "the function must return a value and a gradient; got no {}",
                     result.value.defined() ? "gradient" : "value");
  }
  auto payload = std::make_shared<GradientFunction>();
  payload->function = function;
  payload->gradient = std::move(result.gradient);
  Values inputs{result.value};
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  return insert_one(ops::custom_gradient, inputs,
                    {{"function", std::shared_ptr<const detail::AttributeFunction>(payload)}});
}

std::vector<Spec> infer_custom_gradient(const OpCall& call) { return {call.inputs[0]}; }

/// Input 0, the value, has no cotangent: it would continue through the function's own ops.
Values gradient(const GradientContext& context) {
  const Values given = function_of(context.attributes()).gradient(context.cotangent());
  const std::size_t arguments = context.input_count() - 1;
  if (given.size() != arguments) {
    fail<ValueError>(context.where(), "the gradient must return {} values, one for each argument; got {}", arguments,
                     given.size());
  }
  Values out(1);
  out.insert(out.end(), given.begin(), given.end());
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i].defined() && out[i].shape() != context.input(i).shape()) {
      fail<ShapeError>(context.where(), "gradient of argument {} must have shape {}; got shape {}", i - 1,
                       context.input(i).shape(), out[i].shape());
    }
  }
  return out;
}

Values reinsert(const Values& inputs, const Attributes& attributes) {
  return {call(function_of(attributes).function, Values(inputs.begin() + 1, inputs.end()))};
}

}  // namespace

Op detail::define_custom_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_custom_gradient;
  op.gradient = gradient;
  op.reinsert = reinsert;
  op.view = true;
  return op;
}

std::function<Value(const Values& arguments)> custom_gradient(
    std::function<CustomGradientResult(const Values& arguments)> function) {
  if (!function) fail<ValueError>("[custom_gradient]", "function must be callable; got an empty one");
  return [function = std::move(function)](const Values& arguments) { return call(function, arguments); };
}

}  // namespace mezzo
