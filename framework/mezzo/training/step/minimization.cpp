#include <mezzo/training/step/minimization.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/nn/penalties.hpp>
#include <mezzo/nn/update_checks.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/training/ranks/rank_means.hpp>
#include <mezzo/training/step/group_rates.hpp>
#include <mezzo/training/step/mean_of.hpp>
#include <mezzo/training/step/optimizer_weights.hpp>
#include <mezzo/training/step/update_parts.hpp>

namespace mezzo::detail {
namespace {

std::string named(const OptimizerConfig& config) {
  return config.name.empty() ? "" : fmt::format(" of optimizer \"{}\"", config.name);
}

}  // namespace

Minimization::Minimization(Module& module, const OptimizerConfigs& optimizers, const UpdateOptions& options,
                           StepUpdates& updates, const OptimizerHandle& handle)
    : module_(module),
      optimizers_(optimizers),
      options_(options),
      updates_(updates),
      handle_(handle),
      index_(handle.index()),
      call_(updates.accepted[index_].size()),
      config_(optimizers[index_]),
      optimizer_(*config_.optimizer),
      trace_(*Trace::current()),
      groups_(optimizers.size()),
      scaled_(computes_in_float16(trace_.graph())),
      accumulates_(optimizer_.accumulation_steps() > 1),
      completes_(optimizer_.completes_window()),
      clipnorm_(options.clip ? (options.clip->by_element ? 0 : options.clip->bound)
                             : optimizer_.common().global_clipnorm),
      headroom_(options.clip ? 0 : square_headroom(optimizer_)) {
  if (call_ > 0) require_repeatable();
}

void Minimization::run(const Value& loss) {
  const LibraryScope as_inserted;
  differentiate(loss);
  reduce();
  gate();
  if (options_.survey) return accept(constant(1));
  ask_module();
  optimizer_.require_groups(paths_);
  trace_.update_group = groups_.of(index_, call_);
  if (accumulates_) accumulate();
  if (adds()) {
    accept(constant(1));
  } else {
    apply();
  }
  trace_.update_group = -1;
  trace_.update_guard = {};
}

void Minimization::differentiate(const Value& loss) {
  loss_ = trace_.adopt(mean_of(loss));
  scale_ = scaled_ ? runtime_scalar(RuntimeScalar::loss_scale, index_) : constant(1);
  // Sums over windows and rounding errors are those of unscaled gradients. The factor is computed before the backward
  // pass, beside which ranks send.
  const RankStep& ranks = options_.ranks;
  if (ranks && scaled_ && (accumulates_ || ranks.feedback)) unscaling_ = constant(1) / scale_;
  module_.on_before_backward(loss_);
  LossReads reads = reads_of(module_, config_, loss_);
  weights_ = std::move(reads.weights);
  paths_ = std::move(reads.paths);
  Values leaves;
  for (const TrainedWeight& weight : weights_) leaves.push_back(weight.value);
  gradients_ = partial_gradients(loss_, leaves, scale_);
  keep_differentiated();
  if (gradients_.empty()) {
    fail<ValueError>("[Trainer]", "the loss must depend on a trainable weight{}; got one that depends on none",
                     named(config_));
  }
  note_updated();
  if (ranks.shards) ranks.shards->assign(updates_.updated[index_]);
}

void Minimization::reduce() {
  const RankStep& ranks = options_.ranks;
  checks_.loss = loss_;
  if (ranks && !accumulates_) checks_.loss = reduce_over({});
  show_gradients(weights_, gradients_, [&](Gradients& gradients) { module_.on_after_backward(gradients); });
  if (summed()) {
    Values sums;
    trace_.update_group = groups_.of(index_, call_);
    for (const TrainedWeight& weight : weights_) sums.push_back(optimizer_.take_accumulated(weight.variable));
    trace_.update_group = -1;
    checks_.loss = reduce_over(sums);
  }
  if (ranks && (adds() || ranks.shards)) checks_ = check_over_ranks(ranks, loss_, gradients_, updates_.last_reduced);
}

void Minimization::gate() {
  add_gate(insert_one(ops::all_finite, {checks_.loss}), "[Trainer] the loss must be finite; got NaN or infinity");
  step_ = next_step(index_, updates_.accepted[index_], scaled_ || updates_.decided);
  if (summed()) {
    divisor_ = constant(static_cast<double>(optimizer_.accumulation_steps()));
  } else {
    divisor_ = unscaling_.defined() && !adds() ? constant(1) : scale_;
  }
  if (summed() || scaled_ || checks_.finite.defined() || (clipnorm_ > 0 && !partial())) {
    unscale(divisor_, partial() ? 0 : clipnorm_);
    return;
  }
  // One check for each gradient, which runs where the gradient is computed and is still in the cache.
  for (const Value& gradient : gradients_) add_gate_of_gradients(gradient_is_finite(gradient, headroom_));
}

void Minimization::ask_module() {
  if (adds()) return;
  Value condition = module_.optimizer_step(handle_);
  if (!condition.defined()) return;
  if (condition.dtype() != DType::boolean || !condition.shape().empty()) {
    fail<ShapeError>("[Trainer]", "optimizer_step{} must return bool of shape (); got {} of shape {}", named(config_),
                     condition.dtype(), condition.shape());
  }
  if (accumulates_ || options_.ranks.shards) {
    fail<ValueError>("[Trainer]", "optimizer_step{} must return {{}} with {}; got a condition", named(config_),
                     accumulates_ ? "accumulated gradients" : "shard_optimizer_states");
  }
  if (options_.ranks) {  // an update that only some ranks make would part their weights
    condition = mean_over_ranks(options_.ranks.communicator, cast(condition, DType::float32)) == Value(1.0F);
  }
  condition_ = trace_.adopt(condition);
  updates_.decided = true;
  trace_.gate({.ok = condition_, .group = groups_.of(index_, call_), .on_failure = Graph::OnFailure::leave_out});
}

void Minimization::accumulate() {
  if (adds()) {
    if (options_.ranks) step_.multiplier = step_.multiplier * runtime_scalar(RuntimeScalar::sample_share);
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      optimizer_.accumulate(weights_[i].variable, gradients_[i], step_.multiplier);
    }
  } else if (partial()) {
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      gradients_[i] = optimizer_.accumulated(weights_[i].variable, gradients_[i], step_.multiplier);
    }
    divisor_ = constant(static_cast<double>(optimizer_.accumulation_steps()));
    unscale(divisor_, clipnorm_);
  }
}

void Minimization::apply() {
  show_final_gradients();
  if (options_.clip && options_.clip->by_element && !clipped_) clip_elements();
  const Value made = this->made();
  if (options_.guards && made.defined()) {
    trace_.update_group = groups_.guarded(index_);
    trace_.update_guard = [made](const Value& updated, const Value& before) {
      return stop_gradient(where(made, updated, before));
    };
  }
  const Value rate = step_.learning_rate;
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    step_.path = weights_[i].path;
    step_.learning_rate = rate_of(weights_[i].variable, rate);
    optimizer_.apply(weights_[i].variable, gradients_[i], step_);
    constrain(weights_[i].variable);
    trace_.restart_reads(weights_[i].variable);
  }
  if (options_.ranks.shards) {
    updates_.sharded[index_] = updates_.updated[index_];
    for (const auto& variable : updates_.sharded[index_]) trace_.restart_reads(variable);
  }
  if (!options_.guards && made.defined()) updates_.conditional.note(trace_.graph(), trace_.update_group);
  accept(made.defined() ? cast(made, DType::float64) : constant(1));
}

Value Minimization::made() const {
  if (!good_.defined() || !condition_.defined()) return good_.defined() ? good_ : condition_;
  return logical_and(good_, condition_);
}

void Minimization::require_repeatable() const {
  if (options_.ranks.shards) {
    fail<ValueError>("[Trainer]",
                     "minimize(){} must be called once per step with shard_optimizer_states; got a second call",
                     named(config_));
  }
  detail::require_repeatable(optimizer_, "[Trainer]", "minimize()" + named(config_));
}

void Minimization::keep_differentiated() {
  const auto& updated = updates_.updated[index_];
  std::vector<TrainedWeight> kept;
  Values their;
  const auto refuse = [&](const TrainedWeight& weight, const char* expected, const char* received) {
    fail<ValueError>("[Trainer]", "minimize(){}: {}; got one that reads \"{}\" {}", named(config_), expected,
                     weight.path, received);
  };
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (!gradients_[i].defined()) continue;
    if (!kept.empty() && kept.back().variable == weights_[i].variable) {
      refuse(weights_[i], "the loss must be computed from one value of each weight", "before and after an update");
    }
    kept.push_back(weights_[i]);
    their.push_back(gradients_[i]);
  }
  for (const TrainedWeight& weight : kept) {
    const bool again = std::find(updated.begin(), updated.end(), weight.variable) != updated.end();
    if (!again || weight.newest) continue;
    refuse(weight, "the loss must be computed after the call before, from the weights that it has updated", "before");
  }
  weights_ = std::move(kept);
  gradients_ = std::move(their);
}

void Minimization::note_updated() {
  auto& updated = updates_.updated[index_];
  for (const TrainedWeight& weight : weights_) {
    const bool known = std::find(updated.begin(), updated.end(), weight.variable) != updated.end();
    if (!known) updated.push_back(weight.variable);
  }
}

Value Minimization::reduce_over(const Values& sums) {
  const RankStep& ranks = options_.ranks;
  const bool shards = ranks.shards != nullptr;
  std::vector<Reduced> values;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    values.push_back({.value = gradients_[i],
                      .factor = unscaling_,
                      .sum = sums.empty() ? Value() : sums[i],
                      .errors = ranks.feedback ? ranks.feedback->of(*weights_[i].variable) : nullptr,
                      .owner = shards ? ranks.shards->owner(*weights_[i].variable) : -1});
  }
  const bool joins_loss = !shards && !ranks.feedback;  // which is sent with the gradients
  if (joins_loss) values.push_back({.value = loss_});
  reduce_over_ranks(ranks.communicator, values, updates_.last_reduced);
  std::vector<TrainedWeight> kept;
  gradients_.clear();
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (!values[i].value.defined()) continue;
    kept.push_back(weights_[i]);
    gradients_.push_back(values[i].value);
  }
  weights_ = std::move(kept);
  if (shards) return {};
  if (joins_loss) return values.back().value;
  std::vector<Reduced> last{{.value = loss_}};
  reduce_over_ranks(ranks.communicator, last, updates_.last_reduced);
  return last.front().value;
}

void Minimization::add_gate(const Value& ok, const char* error) {
  trace_.gate({.ok = ok,
               .group = groups_.of(index_, call_),
               .on_failure = scaled_ ? Graph::OnFailure::skip_update : Graph::OnFailure::error,
               .error = error});
  if (scaled_) good_ = good_.defined() ? logical_and(good_, ok) : ok;
}

void Minimization::add_gate_of_gradients(const Value& ok) {
  add_gate(ok, "[Trainer] gradients must be finite; got NaN or infinity");
}

void Minimization::unscale(const Value& divisor, double bound) {
  if (checks_.finite.defined()) {
    step_.multiplier = multiplier_of(divisor, checks_.squares, bound);
    return add_gate_of_gradients(checks_.finite);
  }
  const GradientFactor factor = gradient_factor(divisor, gradients_, bound, headroom_);
  step_.multiplier = factor.multiplier;
  add_gate_of_gradients(factor.finite);
}

void Minimization::show_final_gradients() {
  Values exact = gradients_;  // of the mean loss
  const auto divided = [&](const Value& gradient) {
    const DType dtype = accumulation_dtype(gradient.dtype());
    return cast(gradient, dtype) / cast(divisor_, dtype);
  };
  if (scaled_ || accumulates_) std::transform(gradients_.begin(), gradients_.end(), exact.begin(), divided);
  const std::optional<GradientClip>& clip = options_.clip;
  const auto hook = [&](Gradients& gradients) {
    module_.on_before_optimizer_step(gradients, handle_);
    clipped_ = module_.configure_gradient_clipping(gradients, handle_, clip ? std::optional(clip->bound) : std::nullopt,
                                                   clip && clip->by_element ? "value" : "norm");
  };
  if (!show_gradients(weights_, exact, hook) && !clipped_) return;
  if (options_.ranks.shards) {
    fail<ValueError>("[Trainer]",
                     "on_before_optimizer_step and configure_gradient_clipping must not replace gradients with "
                     "shard_optimizer_states, where a rank has a part of them; got {}",
                     clipped_ ? "the result true" : "another value");
  }
  gradients_ = exact;
  step_.multiplier = constant(1);
  unscale(constant(1), clipped_ && clip ? 0 : clipnorm_);
}

void Minimization::clip_elements() {
  const double limit = options_.clip->bound;
  for (Value& gradient : gradients_) {
    const DType dtype = accumulation_dtype(gradient.dtype());
    const auto bound = [&](double x) { return Value(Tensor::scalar(x, dtype)); };
    gradient = clip(cast(gradient, dtype) * cast(step_.multiplier, dtype), bound(-limit), bound(limit));
  }
  step_.multiplier = constant(1);
}

Value Minimization::rate_of(const std::shared_ptr<VariableState>& variable, const Value& otherwise) const {
  for (std::size_t i = 0; options_.groups != nullptr && i < options_.groups->size(); ++i) {
    if (contains((*options_.groups)[i].weights, Variable(Shared<VariableState>(variable)))) {
      return group_rate(optimizers_.size(), i);
    }
  }
  return otherwise;
}

}  // namespace mezzo::detail
