// StepContext::minimize: gradients, gates and updates of one optimizer.
#include <algorithm>
#include <set>
#include <unordered_set>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/penalties.hpp>
#include <mezzo/nn/update_checks.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/training/step/step_context.hpp>

namespace mezzo::detail {
namespace {

Value number(double x) { return Tensor::scalar(x, DType::float64); }

std::string named(const OptimizerConfig& config) {
  return config.name.empty() ? "" : fmt::format(" of optimizer \"{}\"", config.name);
}

/// Reads of variables that a loss is computed from. Stops at them: an update lies between two reads.
class ReadsBehind {
 public:
  explicit ReadsBehind(const Value& loss) : trace_(*Trace::current()) {
    visit(loss);
    while (!pending_.empty()) {
      const NodePtr node = pending_.back();
      pending_.pop_back();
      for (const Value& input : node->inputs) visit(input);
    }
  }

  bool has(const Value& read) const { return reads_.count({read.node().get(), read.output()}) == 1; }

 private:
  void visit(const Value& value) {
    if (trace_.is_read(value)) {
      reads_.emplace(value.node().get(), value.output());
    } else if (seen_.insert(value.node().get()).second) {
      pending_.push_back(value.node());
    }
  }

  const Trace& trace_;
  std::set<std::pair<const Node*, int>> reads_;
  std::unordered_set<const Node*> seen_;
  std::vector<NodePtr> pending_;
};

}  // namespace

std::vector<StepContext::Trained> StepContext::trained_by(std::size_t optimizer, const Value& loss,
                                                          std::vector<std::string>& paths) {
  const ReadsBehind behind(loss);
  std::vector<Trained> out;
  for (const WeightPolicy& weight : weight_policies(module_, {})) {
    const auto& variable = weight.variable.state().pointer();
    const Trace::Reads& reads = Trace::current()->reads(variable);
    const bool trained = weight.trainable && trains(optimizers_[optimizer], weight.variable);
    if (trained && !reads.values.empty()) paths.push_back(weight.path);
    for (std::size_t i = 0; i < reads.values.size(); ++i) {
      if (!behind.has(reads.values[i])) continue;
      wants_guards_ |= i > 0 && computes_in_float16(Trace::current()->graph());
      const bool newest = i + 1 == reads.values.size() && !reads.restarts;
      if (trained) out.push_back({weight.path, variable, reads.values[i], newest});
    }
  }
  return out;
}

void StepContext::keep_differentiated(std::size_t optimizer, std::vector<Trained>& weights, Values& gradients) const {
  const auto& updated = updated_[optimizer];
  std::vector<Trained> kept;
  Values their;
  const auto refuse = [&](const Trained& weight, const char* expected, const char* received) {
    fail<ValueError>("[Trainer]", "minimize(){}: {}; got one that reads \"{}\" {}", named(optimizers_[optimizer]),
                     expected, weight.path, received);
  };
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!gradients[i].defined()) continue;
    if (!kept.empty() && kept.back().variable == weights[i].variable) {
      refuse(weights[i], "the loss must be computed from one value of each weight", "before and after an update");
    }
    kept.push_back(weights[i]);
    their.push_back(gradients[i]);
  }
  for (const Trained& weight : kept) {
    const bool again = std::find(updated.begin(), updated.end(), weight.variable) != updated.end();
    if (!again || weight.newest) continue;
    refuse(weight, "the loss must be computed after the call before, from the weights that it has updated", "before");
  }
  weights = std::move(kept);
  gradients = std::move(their);
}

void StepContext::require_repeatable(const OptimizerConfig& config) const {
  const Optimizer& optimizer = *config.optimizer;
  if (ranks_.shards) {
    fail<ValueError>("[Trainer]",
                     "minimize(){} must be called once per step with shard_optimizer_states; got a second call",
                     named(config));
  }
  if (optimizer.accumulation_steps() > 1) {
    fail<ValueError>("[Trainer]",
                     "minimize(){} must be called once per step if gradients are accumulated, since windows count "
                     "steps; got a second call and windows of {} steps",
                     named(config), optimizer.accumulation_steps());
  }
  if (optimizer.common().ema_overwrite_frequency > 0) {
    fail<ValueError>("[Trainer]",
                     "minimize(){} must be called once per step with ema_overwrite_frequency, which acts between "
                     "steps; got a second call",
                     named(config));
  }
}

Value StepContext::rate_of(const std::shared_ptr<VariableState>& variable, const Value& otherwise) const {
  for (std::size_t i = 0; groups_ != nullptr && i < groups_->size(); ++i) {
    if (contains((*groups_)[i].weights, Variable(Shared<VariableState>(variable)))) {
      return runtime_scalar(RuntimeScalar::learning_rate, optimizers_.size() + i);
    }
  }
  return otherwise;
}

void StepContext::minimize(const Value& loss, const OptimizerHandle& handle) {
  minimizes_ = true;
  if (purpose_ == Purpose::build) {
    Trace::current()->output("", loss);  // keeps its nodes from dead code elimination
    losses_.push_back(loss);
    return;
  }
  const std::size_t index = handle.index();
  const OptimizerConfig& config = optimizers_[index];
  const std::size_t call = accepted_[index].size();
  if (call > 0) require_repeatable(config);
  Trace& trace = *Trace::current();
  const UpdateGroups groups(optimizers_.size());
  const int group = groups.of(index, call);
  Optimizer& optimizer = *config.optimizer;
  const LibraryScope as_inserted;
  const bool scaled = computes_in_float16(trace.graph());
  const Value target = trace.adopt(mean_of(loss));
  const Value scale = scaled ? runtime_scalar(RuntimeScalar::loss_scale, index) : number(1);
  const bool accumulates = optimizer.accumulation_steps() > 1;
  const bool completes = optimizer.completes_window();
  // Sums over windows and rounding errors are those of unscaled gradients. Before the backward pass, beside which
  // ranks send.
  const bool sends_unscaled = ranks_ && scaled && (accumulates || ranks_.feedback);
  const Value unscaling = sends_unscaled ? number(1) / scale : Value();

  module_.on_before_backward(target);
  std::vector<std::string> paths;
  std::vector<Trained> weights = trained_by(index, target, paths);
  Values leaves;
  for (const Trained& weight : weights) leaves.push_back(weight.value);
  Values all = partial_gradients(target, leaves, scale);
  keep_differentiated(index, weights, all);
  if (all.empty()) {
    fail<ValueError>("[Trainer]", "the loss must depend on a trainable weight{}; got one that depends on none",
                     named(config));
  }
  note_updated(index, weights);
  if (ranks_.shards) ranks_.shards->assign(updated_[index]);
  RankChecks checks{.loss = target};  // of all ranks
  const bool adds = accumulates && !completes;
  const bool summed = ranks_ && accumulates && completes;  // over the window and the ranks at once
  if (ranks_ && !accumulates) checks.loss = reduce(weights, all, {}, unscaling, target);
  show(weights, all, [&](Gradients& gradients) { module_.on_after_backward(gradients); });
  if (summed) {
    Values sums;
    trace.update_group = group;
    for (const Trained& weight : weights) sums.push_back(optimizer.take_accumulated(weight.variable));
    trace.update_group = -1;
    checks.loss = reduce(weights, all, sums, unscaling, target);
  }
  if (ranks_ && (adds || ranks_.shards)) checks = check_over_ranks(ranks_, target, all, last_reduced_);
  const auto on_failure = scaled ? Graph::OnFailure::skip_update : Graph::OnFailure::error;
  Value good;  // all gates
  const auto gate = [&](const Value& ok, const char* error) {
    trace.gate({.ok = ok, .group = group, .on_failure = on_failure, .error = error});
    if (scaled) good = good.defined() ? logical_and(good, ok) : ok;
  };
  const auto gate_of_gradients = [&](const Value& ok) {
    gate(ok, "[Trainer] gradients must be finite; got NaN or infinity");
  };
  gate(insert_one(ops::all_finite, {checks.loss}), "[Trainer] the loss must be finite; got NaN or infinity");
  Optimizer::Step step = next_step(index, scaled);
  const double clipnorm = clip_ ? (clip_->by_element ? 0 : clip_->bound) : optimizer.common().global_clipnorm;
  const double headroom = clip_ ? 0 : square_headroom(optimizer);
  const auto limited = [&](Attributes attributes) {
    if (headroom > 0) attributes.set("headroom", headroom);
    return attributes;
  };
  // Multiplies gradients by 1 / divisor, and more if their joint norm is too large.
  const auto unscale = [&](const Value& divisor, double bound) {
    if (checks.finite.defined()) {
      step.multiplier = multiplier_of(divisor, checks.squares, bound);
      return gate_of_gradients(checks.finite);
    }
    Values operands{divisor};
    operands.insert(operands.end(), all.begin(), all.end());
    const Values out = insert(ops::gradient_multiplier, operands, limited({{"clipnorm", bound}}));
    step.multiplier = out[0];
    gate_of_gradients(out[1]);
  };
  const Value steps = number(static_cast<double>(optimizer.accumulation_steps()));
  const bool partial = accumulates && !summed;  // the gradients are of this step alone
  Value divisor = summed ? steps : unscaling.defined() && !adds ? number(1) : scale;
  if (summed || scaled || checks.finite.defined() || (clipnorm > 0 && !partial)) {
    unscale(divisor, partial ? 0 : clipnorm);
  } else {
    // One check for each gradient, which runs where the gradient is computed and is still in the cache.
    for (const Value& gradient : all) gate_of_gradients(insert_one(ops::all_finite, {gradient}, limited({})));
  }
  if (purpose_ == Purpose::survey) {
    accepted_[index].push_back(number(1));
    return;
  }
  optimizer.require_groups(paths);
  trace.update_group = group;
  if (adds) {
    if (ranks_) step.multiplier = step.multiplier * runtime_scalar(RuntimeScalar::sample_share);
    for (std::size_t i = 0; i < all.size(); ++i) optimizer.accumulate(weights[i].variable, all[i], step.multiplier);
    accepted_[index].push_back(number(1));
    trace.update_group = -1;
    return;
  }
  if (partial) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = optimizer.accumulated(weights[i].variable, all[i], step.multiplier);
    }
    divisor = steps;
    unscale(divisor, clipnorm);
  }
  Values exact = all;  // gradients of the mean loss, as the hook sees them
  const auto divided = [&](const Value& gradient) {
    const DType dtype = accumulation_dtype(gradient.dtype());
    return cast(gradient, dtype) / cast(divisor, dtype);
  };
  if (scaled || accumulates) std::transform(all.begin(), all.end(), exact.begin(), divided);
  if (show(weights, exact, [&](Gradients& gradients) { module_.on_before_optimizer_step(gradients, handle); })) {
    if (ranks_.shards) {
      fail<ValueError>("[Trainer]",
                       "on_before_optimizer_step must not replace gradients with shard_optimizer_states, where a rank "
                       "has a part of them; got another value");
    }
    all = exact;
    step.multiplier = number(1);
    unscale(number(1), clipnorm);
  }
  if (clip_ && clip_->by_element) {
    for (Value& gradient : all) {
      const DType dtype = accumulation_dtype(gradient.dtype());
      const auto bound = [&](double x) { return Value(Tensor::scalar(x, dtype)); };
      gradient = clip(cast(gradient, dtype) * cast(step.multiplier, dtype), bound(-clip_->bound), bound(clip_->bound));
    }
    step.multiplier = number(1);
  }
  if (guards_ && scaled) {
    trace.update_group = groups.guarded(index);
    trace.update_guard = [good](const Value& updated, const Value& before) {
      return stop_gradient(where(good, updated, before));
    };
  }
  const Value rate = step.learning_rate;
  for (std::size_t i = 0; i < all.size(); ++i) {
    step.path = weights[i].path;
    step.learning_rate = rate_of(weights[i].variable, rate);
    optimizer.apply(weights[i].variable, all[i], step);
    constrain(weights[i].variable);
    trace.restart_reads(weights[i].variable);
  }
  if (ranks_.shards) {
    sharded_[index] = updated_[index];
    for (const auto& variable : sharded_[index]) trace.restart_reads(variable);
  }
  accepted_[index].push_back(scaled ? cast(good, DType::float64) : number(1));
  trace.update_group = -1;
  trace.update_guard = {};
}

void StepContext::note_updated(std::size_t optimizer, const std::vector<Trained>& weights) {
  auto& updated = updated_[optimizer];
  for (const Trained& weight : weights) {
    const bool known = std::find(updated.begin(), updated.end(), weight.variable) != updated.end();
    if (!known) updated.push_back(weight.variable);
  }
}

Optimizer::Step StepContext::next_step(std::size_t optimizer, bool scaled) const {
  const Values& before = accepted_[optimizer];
  Optimizer::Step step{.learning_rate = runtime_scalar(RuntimeScalar::learning_rate, optimizer, before.size()),
                       .count = runtime_scalar(RuntimeScalar::count, optimizer),
                       .multiplier = number(1)};
  if (before.empty()) return step;
  Value made = before.front();  // updates of this step that were not skipped
  for (std::size_t i = 1; i < before.size(); ++i) made = made + before[i];
  step.count = step.count + made;
  for (std::size_t i = before.size(); scaled && i-- > 0;) {
    const Value rate = runtime_scalar(RuntimeScalar::learning_rate, optimizer, i);
    step.learning_rate = where(made < number(static_cast<double>(i) + 0.5), rate, step.learning_rate);
  }
  return step;
}

bool StepContext::show(const std::vector<Trained>& weights, Values& values,
                       const std::function<void(Gradients&)>& hook) {
  Gradients gradients;
  for (std::size_t i = 0; i < values.size(); ++i) {
    gradients.push_back({weights[i].path, Variable(Shared<VariableState>(weights[i].variable)), values[i]});
  }
  const std::size_t count = gradients.size();
  hook(gradients);
  if (gradients.size() != count) {
    fail<ValueError>("[Module]", "a hook must leave all {} gradients in the list; got {}", count, gradients.size());
  }
  bool replaced = false;
  std::size_t next = 0;
  for (Value& value : values) {
    const Gradient& shown = gradients[next++];
    if (shown.value.same_as(value)) continue;
    if (!shown.value.defined() || shown.value.shape() != value.shape()) {
      fail<ShapeError>("[Module]", "the gradient of \"{}\" must keep its shape {}; a hook gave shape {}", shown.path,
                       value.shape(), shown.value.defined() ? shown.value.shape() : Shape{});
    }
    value = shown.value;
    replaced = true;
  }
  return replaced;
}

}  // namespace mezzo::detail
