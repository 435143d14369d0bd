#include <mezzo/training/step/step_context.hpp>

#include <algorithm>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace detail {

bool contains(const std::vector<Variable>& weights, const Variable& weight) {
  return std::any_of(weights.begin(), weights.end(), [&](const Variable& one) { return one.id() == weight.id(); });
}

bool trains(const OptimizerConfig& optimizer, const Variable& weight) {
  return optimizer.weights.empty() || contains(optimizer.weights, weight);
}

StepContext::StepContext(Module& module, const OptimizerConfigs& optimizers, Purpose purpose, std::optional<Clip> clip,
                         const std::vector<ParamGroup>* groups, bool guards)
    : module_(module),
      optimizers_(optimizers),
      purpose_(purpose),
      clip_(clip),
      groups_(groups),
      guards_(guards),
      accepted_(optimizers.size()),
      updated_(optimizers.size()),
      sharded_(optimizers.size()) {}

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

LogTargets LogTargets::of(const std::string& name, const LogOptions& options, bool training) {
  static const std::vector<std::string> reductions{"mean", "sum", "min", "max"};
  const auto found = std::find(reductions.begin(), reductions.end(), options.reduce_fx);
  if (found == reductions.end()) fail_unknown("[Module]", "reduce_fx", options.reduce_fx, reductions);
  LogTargets out{.prog_bar = options.prog_bar,
                 .history = options.on_epoch.value_or(true),
                 .logger_step = options.logger && options.on_step.value_or(training),
                 .logger_epoch = options.logger && options.on_epoch.value_or(!training),
                 .reduction = static_cast<Reduction>(found - reductions.begin()),
                 .add_dataloader_idx = options.add_dataloader_idx};
  if (!out.prog_bar && !out.history && !out.logger_step) {
    fail<ValueError>("[Module]",
                     "log(\"{}\", ...): on_step, on_epoch or prog_bar must be true; got false for all of them", name);
  }
  return out;
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

void StepContext::finish(const Value& loss, std::int64_t samples) {
  if (minimizes_) return require_unread();
  const Shape shape = loss.defined() ? loss.shape() : Shape();
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

Value mean_of(const Value& value) {
  const LibraryScope as_inserted;
  const DType dtype = accumulation_dtype(value.dtype());
  const Value wide = value.dtype() == dtype ? value : cast(value, dtype);
  return wide.shape().empty() ? wide : mean(wide);
}

}  // namespace detail

}  // namespace mezzo
