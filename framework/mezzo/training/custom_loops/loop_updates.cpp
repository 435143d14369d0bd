#include <mezzo/training/custom_loops/loop_updates.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/penalties.hpp>
#include <mezzo/nn/update_checks.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/training/step/update_parts.hpp>

namespace mezzo::detail {
namespace {

std::string label_of(const Optimizer& optimizer) { return "[" + optimizer.name() + "]"; }

}  // namespace

LoopUpdates::LoopUpdates(Trace& trace, bool guards) : trace_(trace), guards_(guards) { trace_.update_group = 0; }

std::size_t LoopUpdates::index_of(const Optimizer& optimizer) {
  for (std::size_t i = 0; i < optimizers_.size(); ++i) {
    if (optimizers_[i].optimizer.state().get() == optimizer.state().get()) return i;
  }
  optimizers_.push_back({.optimizer = HeldOptimizer(optimizer),
                         .accumulation_steps = optimizer.accumulation_steps(),
                         .completes_window = optimizer.completes_window()});
  accepted_.emplace_back();
  return optimizers_.size() - 1;
}

void LoopUpdates::apply(Optimizer& optimizer, const Gradients& gradients, const UpdateTerms& terms) {
  if (Trace::current() != &trace_) {
    fail<ValueError>(label_of(optimizer), "apply must be called in the step itself; got a call in the body of a loop");
  }
  const std::size_t index = index_of(optimizer);
  const std::vector<int>& earlier = optimizers_[index].groups;
  if (!earlier.empty()) require_repeatable(optimizer, label_of(optimizer), "apply");
  optimizer.require_trainable();
  std::vector<std::string> paths;
  for (const Gradient& gradient : gradients) {
    paths.push_back(gradient.path);
    optimizers_[index].updated.push_back(gradient.weight.state().pointer());
  }
  optimizer.require_groups(paths);

  Update update{.optimizer = optimizer, .gradients = gradients, .terms = terms, .group = ++groups_};
  for (const Gradient& gradient : gradients) update.values.push_back(gradient.value);
  const bool may_skip = std::any_of(earlier.begin(), earlier.end(), [](int group) { return group != 0; });
  update.step = next_step(index, accepted_[index], may_skip);
  if (terms.multiplier.defined()) update.step.multiplier = terms.multiplier;
  if (terms.condition.defined()) {
    update.condition = trace_.adopt(terms.condition);
    trace_.gate({.ok = update.condition, .group = update.group});
  }
  const bool conditional = update.condition.defined();
  check(update);
  const bool guarded = guards_ && conditional;
  trace_.update_group = guarded || !conditional ? 0 : update.group;
  if (guarded) {
    trace_.update_guard = [condition = update.condition](const Value& updated, const Value& before) {
      return stop_gradient(where(condition, updated, before));
    };
  }
  if (accumulate(update)) write(update);
  trace_.update_group = 0;
  trace_.update_guard = {};
  if (conditional && !guarded) conditional_.note(trace_.graph(), update.group);
  accepted_[index].push_back(conditional ? cast(update.condition, DType::float64) : constant(1));
  optimizers_[index].groups.push_back(conditional ? update.group : 0);
}

void LoopUpdates::check(Update& update) {
  const Optimizer& optimizer = update.optimizer;
  if (optimizer.common().global_clipnorm > 0 && optimizer.accumulation_steps() <= 1) {
    return unscale(update, constant(1) / update.step.multiplier, update.terms.checks_finite);
  }
  if (!update.terms.checks_finite) return;
  // One check for each gradient, which runs where the gradient is computed and is still in the cache.
  const double headroom = square_headroom(optimizer);
  for (const Value& value : update.values) require_finite(update, gradient_is_finite(value, headroom));
}

void LoopUpdates::unscale(Update& update, const Value& divisor, bool checks) {
  const Optimizer& optimizer = update.optimizer;
  const GradientFactor factor =
      gradient_factor(divisor, update.values, optimizer.common().global_clipnorm, square_headroom(optimizer));
  update.step.multiplier = factor.multiplier;
  if (checks) require_finite(update, factor.finite);
}

bool LoopUpdates::accumulate(Update& update) {
  Optimizer& optimizer = update.optimizer;
  if (optimizer.accumulation_steps() <= 1) return true;
  const bool completes = optimizer.completes_window();
  for (std::size_t i = 0; i < update.values.size(); ++i) {
    const auto& variable = update.gradients[i].weight.state().pointer();
    if (completes) {
      update.values[i] = optimizer.accumulated(variable, update.values[i], update.step.multiplier);
    } else {
      optimizer.accumulate(variable, update.values[i], update.step.multiplier);
    }
  }
  if (completes) unscale(update, constant(static_cast<double>(optimizer.accumulation_steps())), true);
  return completes;
}

void LoopUpdates::write(Update& update) {
  for (std::size_t i = 0; i < update.values.size(); ++i) {
    const auto& variable = update.gradients[i].weight.state().pointer();
    update.step.path = update.gradients[i].path;
    update.optimizer.apply(variable, update.values[i], update.step);
    constrain(variable);
    trace_.restart_reads(variable);
  }
}

void LoopUpdates::require_finite(const Update& update, const Value& ok) {
  trace_.gate({.ok = update.condition.defined() ? logical_or(logical_not(update.condition), ok) : ok,
               .group = update.group,
               .on_failure = Graph::OnFailure::error,
               .error = label_of(update.optimizer) + " apply: gradients must be finite; got NaN or infinity"});
}

}  // namespace mezzo::detail
