#include <mezzo/training/step/step_context.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/training/step/mean_of.hpp>
#include <mezzo/training/step/minimization.hpp>

namespace mezzo {
namespace detail {

StepContext::StepContext(Module& module, const OptimizerConfigs& optimizers, Purpose purpose, UpdateOptions updates)
    : module_(module),
      optimizers_(optimizers),
      purpose_(purpose),
      options_(std::move(updates)),
      updates_(optimizers.size()) {
  options_.survey = purpose == Purpose::survey;
}

StepContext& StepContext::current(const std::string& what) {
  return static_cast<StepContext&>(TracedStep::current(what));
}

void StepContext::refuse_frozen(const char* what, const char* instead) {
  const Trace* trace = Trace::current();
  if (innermost() == nullptr || trace == nullptr || trace->mode() == Trace::Mode::eager) return;
  fail<ValueError>(
      "[Module]",
      "{} is a number of C++, which the trace of a step would freeze; got a call inside of a step: use the "
      "Value {}",
      what, instead);
}

void StepContext::log(const std::string& name, const Value& value, const LogOptions& options) {
  if (!value.node()) {
    fail<ValueError>("[Module]",
                     "log(\"{}\", ...): the value must be computed by the step; got a constant, which the trace would "
                     "freeze",
                     name);
  }
  require_new(name);
  logged_.push_back({name, LogTargets::of(name, options, Trace::current()->training()), {}, logged_values_++});
  Trace::current()->output(name, mean_of(value));
}

void StepContext::log_metric(const std::string& name, const Any<Metric>& metric, const LogOptions& options) {
  if (!metric) fail<ValueError>("[Module]", "log(\"{}\", ...): the metric must not be empty; got an empty one", name);
  require_new(name);
  if (purpose_ == Purpose::train) {
    const OutsideTrace at_once;
    const Shape shape = metric->result().shape();
    const bool one = std::all_of(shape.begin(), shape.end(), [](std::int64_t size) { return size == 1; });
    if (!one) {
      fail<ShapeError>("[Module]", "log(\"{}\", ...): the result of the metric must be one number; got shape {}", name,
                       shape);
    }
  }
  if (options.reduce_fx != "mean") {
    fail<ValueError>("[Module]", "log(\"{}\", ...): the number of an epoch is the metric's own; got reduce_fx \"{}\"",
                     name, options.reduce_fx);
  }
  logged_.push_back({name, LogTargets::of(name, options, Trace::current()->training()), metric, 0});
}

void StepContext::log_running(const std::string& name, const Any<Metric>& metric, const LogOptions& options) {
  log_metric(name, metric, options);
  logged_.back().targets.running = true;
}

void StepContext::require_new(const std::string& name) const {
  if (has(name)) fail<NameError>("[Module]", "log: names must differ within a step; got \"{}\" twice", name);
}

void StepContext::note_prediction(const Value& prediction) {
  if (auto* const step = static_cast<StepContext*>(innermost())) step->predictions_.push_back(prediction);
}

void StepContext::note_outputs(const Values& outputs, const std::string& where) {
  outputs_ = outputs;
  outputs_where_ = where;
}

Values StepContext::outputs(const Value& result) const {
  if (outputs_.size() < 2) return {result};
  if (!result.same_as(outputs_.front())) require_one_output(outputs_.size(), outputs_where_, "predict");
  return outputs_;
}

bool StepContext::has(const std::string& name) const {
  return std::any_of(logged_.begin(), logged_.end(), [&](const Logged& entry) { return entry.name == name; });
}

Value StepContext::batch_idx() const {
  const LibraryScope as_inserted;
  return cast(runtime_scalar(RuntimeScalar::batch), DType::int64);
}

OptimizerHandle StepContext::optimizer(const std::string& name) const {
  if (purpose_ == Purpose::build) return OptimizerHandle(0);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < optimizers_.size(); ++i) {
    if (optimizers_[i].name == name) return OptimizerHandle(i);
    names.push_back(fmt::format("\"{}\"", optimizers_[i].name));
  }
  fail_unknown("[Module]", "optimizer", name, names);
}

void StepContext::minimize(const Value& loss, const OptimizerHandle& optimizer) {
  minimizes_ = true;
  if (purpose_ != Purpose::build) {
    Minimization(module_, optimizers_, options_, updates_, optimizer).run(loss);
    return;
  }
  Trace::current()->output("", loss);  // keeps its nodes from dead code elimination
  losses_.push_back(loss);
}

void StepContext::require_unread() const {
  for (const auto& variables : updates_.sharded) {
    for (const auto& variable : variables) {
      if (Trace::current()->reads(variable).restarts) continue;
      fail<ValueError>("[Trainer]",
                       "steps with shard_optimizer_states must not read weights after their update, which another rank "
                       "makes; got a step that reads \"{}\"",
                       variable->name);
    }
  }
}

void StepContext::finish(const Value& loss, std::int64_t samples) {
  if (minimizes_) return require_unread();
  if (!loss.defined()) return;  // the step leaves the batch out
  const Shape& shape = loss.shape();
  const std::int64_t count = element_count(shape);
  const bool per_sample = !shape.empty() && shape.front() == samples && count == samples;
  if (count != 1 && !per_sample) {
    fail<ShapeError>("[Trainer]",
                     "training_step must return a loss of one number, (), or of one per sample, {}; got shape {}: take "
                     "its mean() or sum()",
                     Shape{samples}, shape);
  }
  if (optimizers_.size() != 1) {
    fail<ValueError>("[Trainer]",
                     "training_step must call minimize(loss, optimizer(name)) if there are several optimizers; got {} "
                     "optimizers and no call",
                     optimizers_.size());
  }
  minimize(loss, OptimizerHandle(0));
}

}  // namespace detail

}  // namespace mezzo
