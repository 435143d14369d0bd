#include <mezzo/ops/grad.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/node.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/helpers.hpp>

namespace mezzo {
namespace {

using FunctionOfAll = std::function<Value(const Values&)>;

Value scalar_result(const FunctionOfAll& function, const Values& xs, const std::string& where) {
  const Value result = function(xs);
  if (!result.defined()) fail<ValueError>(where, "the function must return a value; got an undefined Value");
  if (!is_floating(result.dtype())) fail<DTypeError>(where, "the function must return a float; got {}", result.dtype());
  if (!result.shape().empty()) {
    fail<ShapeError>(where, "the function must return a number, of shape (); got shape {}", result.shape());
  }
  return result;
}

/// Throws a ValueError if the result depends on an argument that is a variable in another way, through a layer that
/// reads the variable directly. The gradient would not include that dependence.
void refuse_other_reads(const Value& result, const Values& xs, const Values& inputs, const std::string& where) {
  std::unordered_map<const detail::VariableState*, std::size_t> variables;
  std::unordered_set<const detail::Node*> seen;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (const detail::VariableState* variable = detail::read_by(xs[i])) variables.emplace(variable, i);
    seen.insert(inputs[i].node().get());
  }
  if (variables.empty()) return;
  std::vector<detail::NodePtr> pending{Trace::current()->adopt(result).node()};
  while (!pending.empty()) {
    const detail::NodePtr node = std::move(pending.back());
    pending.pop_back();
    if (!node || !seen.insert(node.get()).second) continue;
    if (const auto found = variables.find(node->variable.get()); node->variable && found != variables.end()) {
      fail<ValueError>(
          where,
          "the function must compute with its argument {}, the variable \"{}\"; it also reads the variable "
          "itself, as a layer does, which would count as a constant: use the argument in its place, or "
          "value_and_grad(model, function), which has the gradients by the weights of a model",
          found->second, node->variable->name);
    }
    if (!node->op->gradient) continue;
    for (const Value& input : node->inputs) {
      if (is_floating(input.dtype())) pending.push_back(input.node());
    }
  }
}

/// The function's value, then the gradients, in the running trace. The arguments are separate nodes: values that the
/// function captures are constant, even if they are among xs.
Values differentiate_in_trace(const FunctionOfAll& function, const Values& xs, const std::string& where) {
  Values inputs;
  for (const Value& x : xs) inputs.push_back(identity(x));
  const Value result = scalar_result(function, inputs, where);
  refuse_other_reads(result, xs, inputs, where);
  Values out = detail::partial_gradients(result, inputs, Value(1.0));
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (out[i].defined()) continue;
    if (const detail::VariableState* const variable = detail::read_by(xs[i])) {
      fail<ValueError>(where, "the function must compute with its argument {}, the variable \"{}\"; it doesn't", i,
                       variable->name);
    }
    out[i] = Tensor(xs[i].shape(), xs[i].dtype());
  }
  out.insert(out.begin(), result);
  return out;
}

/// `regions`: the caller's scopes, which a separate trace hides.
Values differentiate_at_once(const FunctionOfAll& function, const Values& xs, const std::string& where,
                             const detail::CastRegions& regions) {
  const FunctionOfAll within = [&](const Values& arguments) {
    const detail::CastScope casts(regions);
    return function(arguments);
  };
  Trace trace(Trace::Mode::eager, detail::training_phase());
  trace.runtime_values[{detail::RuntimeScalar::seed}] = detail::next_seed();  // another draw in each call
  Values out;
  for (const Value& result : differentiate_in_trace(within, xs, where)) out.push_back(result.tensor());
  return out;
}

Values value_and_gradients(const FunctionOfAll& function, const Values& xs) {
  const std::string where = detail::current_label("grad");
  Values inputs;
  std::vector<Spec> specs{{{}, DType::float32}};
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!xs[i].defined()) fail<ValueError>(where, "argument {} must be defined; got an undefined Value", i);
    const bool number = xs[i].weak();
    if (!is_floating(xs[i].dtype()) && !number) {
      fail<DTypeError>(where, "argument {} must be floating; got {}", i, xs[i].dtype());
    }
    inputs.push_back(number ? Value(xs[i].tensor().cast(DType::float32)) : xs[i]);
    specs.push_back({inputs.back().shape(), inputs.back().dtype()});
  }
  if (inputs.empty()) fail<ValueError>(where, "takes at least one argument; got none");
  return detail::defer(
      [function, where, regions = detail::outer_regions()](const Values& arguments) {
        return Trace::current() != nullptr ? differentiate_in_trace(function, arguments, where)
                                           : differentiate_at_once(function, arguments, where, regions);
      },
      inputs, specs);
}

FunctionOfAll of_all(std::function<Value(const Value&)> function) {
  if (!function) fail<ValueError>("[grad]", "function must be callable; got an empty one");
  return [function = std::move(function)](const Values& xs) { return function(xs[0]); };
}

}  // namespace

std::function<Value(const Value&)> grad(std::function<Value(const Value&)> function) {
  return [f = of_all(std::move(function))](const Value& x) { return value_and_gradients(f, {x})[1]; };
}

std::function<Values(const Values&)> grad(std::function<Value(const Values&)> function) {
  if (!function) fail<ValueError>("[grad]", "function must be callable; got an empty one");
  return [f = std::move(function)](const Values& xs) {
    Values out = value_and_gradients(f, xs);
    out.erase(out.begin());
    return out;
  };
}

std::function<ValueAndGrad(const Value&)> value_and_grad(std::function<Value(const Value&)> function) {
  return [f = of_all(std::move(function))](const Value& x) {
    const Values both = value_and_gradients(f, {x});
    return ValueAndGrad{both[0], both[1]};
  };
}

}  // namespace mezzo
