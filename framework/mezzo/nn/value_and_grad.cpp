#include <mezzo/nn/value_and_grad.hpp>

#include <algorithm>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/loop_step.hpp>
#include <mezzo/ops/gradients.hpp>

namespace mezzo {
namespace {

using FunctionWithAux = std::function<std::pair<Value, Values>()>;
/// Weights with their paths. Evaluated after the function, which may build layers.
using Targets = std::function<Gradients()>;

Targets weights_of(const Layer& model) {
  return [&model] {
    detail::CalledRoots::note(model.state());
    Gradients out;
    for (const detail::WeightPolicy& weight : detail::weight_policies(model, {})) {
      if (weight.trainable) out.push_back({weight.path, weight.variable, {}});
    }
    return out;
  };
}

Targets list_of(const std::vector<Variable>& variables) {
  return [&variables] {
    Gradients out;
    for (const Variable& variable : variables) out.push_back({variable.name(), variable, {}});
    return out;
  };
}

FunctionWithAux without_aux(const std::function<Value()>& function) {
  if (!function) return {};
  return [&function] { return std::pair(function(), Values()); };
}

void check_loss(const std::string& where, const Value& loss) {
  if (!loss.defined()) fail<ValueError>(where, "the function must return a loss; got an undefined Value");
  if (!is_floating(loss.dtype())) fail<DTypeError>(where, "the loss must be a float; got {}", loss.dtype());
  if (!loss.shape().empty()) {
    fail<ShapeError>(where, "the loss must be a number, of shape (); got shape {}", loss.shape());
  }
}

void check_targets(const std::string& where, const Gradients& targets) {
  if (targets.empty()) fail<ValueError>(where, "there must be a trainable weight; got none");
  for (const Gradient& target : targets) {
    if (!target.weight.filled()) {
      fail<ValueError>(where, "variable \"{}\" must have numbers; got none", target.path);
    }
  }
}

[[noreturn]] void refuse_unused(const std::string& where, const Gradients& targets) {
  constexpr std::size_t shown = 5;
  std::vector<std::string> unused;
  for (const Gradient& target : targets) {
    if (!target.value.defined()) unused.push_back(fmt::format("\"{}\"", target.path));
  }
  const std::size_t others = unused.size() - std::min(unused.size(), shown);
  unused.resize(unused.size() - others);
  fail<ValueError>(where,
                   "the loss must depend on each weight, by what the function computes; got none of {}{}: call the "
                   "layer inside the function, leave the weight out of the list, freeze it by set_trainable(false), or "
                   "set allow_unused",
                   fmt::join(unused, ", "), others > 0 ? fmt::format(" and {} others", others) : "");
}

LossGradientsAndAux differentiate_here(const std::string& where, const FunctionWithAux& function,
                                       const Targets& targets, bool allow_unused) {
  Trace& trace = *Trace::current();
  const std::size_t first = trace.graph().nodes.size();
  LossGradientsAndAux out;
  {
    const detail::DifferentiatedScope differentiated;
    auto [loss, aux] = function();
    out.loss = std::move(loss);
    out.aux = std::move(aux);
  }
  check_loss(where, out.loss);
  out.loss = trace.adopt(out.loss);
  out.gradients = targets();
  check_targets(where, out.gradients);
  Values reads;
  for (const Gradient& target : out.gradients) reads.push_back(trace.read(target.weight.state().pointer()));
  const Values gradients = detail::partial_gradients(out.loss, reads, Value(1.0), first);
  bool unused = false;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    out.gradients[i].value = gradients[i];
    unused |= !gradients[i].defined();
  }
  if (unused && !allow_unused) refuse_unused(where, out.gradients);
  return out;
}

Value concrete(const Value& value) { return value.defined() ? Value(value.tensor()) : Value(); }

LossGradientsAndAux differentiate_now(const std::string& where, const FunctionWithAux& function, const Targets& targets,
                                      const ValueAndGradOptions& options) {
  // The trace hides those of the thread.
  const detail::CastRegions regions = detail::outer_regions();  // NOLINT(performance-unnecessary-copy-initialization)
  Trace trace(Trace::Mode::eager, options.training.value_or(true));
  trace.runtime_values[{detail::RuntimeScalar::seed}] = detail::next_seed();  // another draw in each call
  const detail::CastScope casts(regions);
  LossGradientsAndAux out = differentiate_here(where, function, targets, options.allow_unused);
  out.loss = concrete(out.loss);
  for (Gradient& gradient : out.gradients) gradient.value = concrete(gradient.value);
  for (Value& value : out.aux) value = concrete(value);
  for (const auto& update : trace.graph().updates) update.variable->store(update.value.tensor());
  return out;
}

LossGradientsAndAux run(const FunctionWithAux& function, const Targets& targets, const ValueAndGradOptions& options) {
  const std::string where = detail::current_label("value_and_grad");
  if (!function) fail<ValueError>(where, "function must be callable; got an empty one");
  const Trace* const trace = Trace::current();
  if (trace == nullptr) return differentiate_now(where, function, targets, options);
  if (options.training && *options.training != trace->training()) {
    fail<ValueError>(where,
                     "training must be that of the running step, {}; got {} (a layer's call takes a mode of its own: "
                     "model(x, {{.training = {}}}))",
                     trace->training(), *options.training, *options.training);
  }
  return differentiate_here(where, function, targets, options.allow_unused);
}

LossAndGradients first_two(LossGradientsAndAux all) { return {std::move(all.loss), std::move(all.gradients)}; }

}  // namespace

LossAndGradients value_and_grad(const Layer& model, const std::function<Value()>& function,
                                const ValueAndGradOptions& options) {
  return first_two(run(without_aux(function), weights_of(model), options));
}

LossAndGradients value_and_grad(const std::vector<Variable>& variables, const std::function<Value()>& function,
                                const ValueAndGradOptions& options) {
  return first_two(run(without_aux(function), list_of(variables), options));
}

LossGradientsAndAux value_and_grad(const Layer& model, const FunctionWithAux& function,
                                   const ValueAndGradOptions& options) {
  return run(function, weights_of(model), options);
}

LossGradientsAndAux value_and_grad(const std::vector<Variable>& variables, const FunctionWithAux& function,
                                   const ValueAndGradOptions& options) {
  return run(function, list_of(variables), options);
}

}  // namespace mezzo
