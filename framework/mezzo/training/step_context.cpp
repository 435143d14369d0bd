#include <mezzo/training/step_context.hpp>

#include <algorithm>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/penalties.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// The Trainer's part of a thread's ExecutionContext.
struct StepState {
  detail::StepContext* innermost = nullptr;
};

detail::StepContext*& innermost() { return detail::ExecutionContext::current().part<StepState>().innermost; }

}  // namespace

namespace detail {

bool trains(const OptimizerConfig& optimizer, const Variable& weight) {
  const auto same = [&](const Variable& other) { return other.id() == weight.id(); };
  return optimizer.weights.empty() || std::any_of(optimizer.weights.begin(), optimizer.weights.end(), same);
}

StepContext::StepContext(Module& module, const OptimizerConfigs& optimizers, Purpose purpose, std::optional<Clip> clip)
    : module_(module),
      optimizers_(optimizers),
      purpose_(purpose),
      clip_(clip),
      updated_(optimizers.size()),
      outer_(innermost()) {
  innermost() = this;
}
StepContext::~StepContext() { innermost() = outer_; }

StepContext& StepContext::current(const std::string& what) {
  if (innermost() == nullptr) {
    fail<ValueError>("[Module]", "{} must be called inside a step that a Trainer runs; got a call outside of one",
                     what);
  }
  return *innermost();
}

bool StepContext::active() { return innermost() != nullptr; }

LogTargets LogTargets::of(const std::string& name, const LogOptions& options, bool training) {
  static const std::vector<std::string> reductions{"mean", "sum", "min", "max"};
  const auto found = std::find(reductions.begin(), reductions.end(), options.reduce_fx);
  if (found == reductions.end()) fail_unknown("[Module]", "reduce_fx", options.reduce_fx, reductions);
  LogTargets out{.prog_bar = options.prog_bar,
                 .history = options.on_epoch.value_or(true),
                 .logger_step = options.logger && options.on_step.value_or(training),
                 .logger_epoch = options.logger && options.on_epoch.value_or(!training),
                 .reduction = static_cast<Reduction>(found - reductions.begin())};
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

void StepContext::log(const std::string& name, const Any<Metric>& metric, const LogOptions& options) {
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

void StepContext::require_new(const std::string& name) const {
  if (has(name)) fail<NameError>("[Module]", "log: names must differ within a step; got \"{}\" twice", name);
}

void StepContext::note_prediction(const Value& prediction) {
  if (innermost() != nullptr) innermost()->predictions_.push_back(prediction);
}

Value StepContext::note_outputs(const Values& outputs, const std::string& where) {
  if (innermost() == nullptr) require_one_output(outputs.size(), where, "predict");
  if (innermost() != nullptr) {
    innermost()->outputs_ = outputs;
    innermost()->outputs_where_ = where;
  }
  return outputs.front();
}

Values StepContext::outputs(const Value& result) const {
  if (outputs_.size() < 2) return {result};
  if (!result.same_as(outputs_.front())) require_one_output(outputs_.size(), outputs_where_, "predict");
  return outputs_;
}

bool StepContext::has(const std::string& name) const {
  return std::any_of(logged_.begin(), logged_.end(), [&](const Logged& entry) { return entry.name == name; });
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

std::vector<StepContext::Trained> StepContext::trained_by(std::size_t optimizer) const {
  std::vector<Trained> out;
  for (const WeightPolicy& weight : weight_policies(module_, {})) {
    if (!weight.trainable || !trains(optimizers_[optimizer], weight.variable)) continue;
    const auto& variable = weight.variable.state().pointer();
    const Value value = Trace::current()->first_read(variable);
    if (value.defined()) out.push_back({weight.path, variable, value});
  }
  return out;
}

void StepContext::minimize(const Value& loss, const OptimizerHandle& handle) {
  if (purpose_ == Purpose::build) {
    Trace::current()->output("", loss);  // keeps its nodes from dead code elimination
    losses_.push_back(loss);
    return;
  }
  const std::string& name = optimizers_[handle.index()].name;
  const std::string which = name.empty() ? "" : fmt::format(" of optimizer \"{}\"", name);
  if (std::find(minimized_.begin(), minimized_.end(), handle.index()) != minimized_.end()) {
    fail<ValueError>("[Trainer]", "minimize(){} must be called once per step; got a second call", which);
  }
  minimized_.push_back(handle.index());
  Trace& trace = *Trace::current();
  const auto group = static_cast<int>(handle.index());
  Optimizer& optimizer = *optimizers_[handle.index()].optimizer;
  const LibraryScope as_inserted;
  const bool scaled = computes_in_float16(trace.graph());
  const Value target = mean_of(loss);
  const Value scale =
      scaled ? runtime_scalar(RuntimeScalar::loss_scale, handle.index()) : Value(Tensor::scalar(1, DType::float64));

  module_.on_before_backward(target);
  const std::vector<Trained> weights = trained_by(handle.index());
  Values leaves;
  for (const Trained& weight : weights) leaves.push_back(weight.value);
  Values all = partial_gradients(target, leaves, scale);
  if (std::none_of(all.begin(), all.end(), [](const Value& gradient) { return gradient.defined(); })) {
    fail<ValueError>("[Trainer]", "the loss must depend on a trainable weight{}; got one that depends on none", which);
  }
  show(weights, all, [&](Gradients& gradients) { module_.on_after_backward(gradients); });
  const Value finite = insert_one(ops::all_finite, {target});
  const auto on_failure = scaled ? Graph::OnFailure::skip_update : Graph::OnFailure::error;
  trace.gate({.ok = finite,
              .group = group,
              .on_failure = on_failure,
              .error = "[Trainer] the loss must be finite; got NaN or infinity"});
  const auto gate_of_gradients = [&](const Value& ok) {
    trace.gate({.ok = ok,
                .group = group,
                .on_failure = on_failure,
                .error = "[Trainer] gradients must be finite; got NaN or infinity"});
  };
  const Value one = Tensor::scalar(1, DType::float64);
  Optimizer::Step step{.learning_rate = runtime_scalar(RuntimeScalar::learning_rate, handle.index()),
                       .count = runtime_scalar(RuntimeScalar::count, handle.index()),
                       .multiplier = one};
  const bool accumulates = optimizer.accumulation_steps() > 1;
  const bool completes = optimizer.completes_window();
  const double clipnorm = clip_ ? (clip_->by_element ? 0 : clip_->bound) : optimizer.common().global_clipnorm;
  // Multiplies gradients by 1 / divisor, and more if their joint norm is too large.
  const auto unscale = [&](const Value& divisor, double bound) {
    Values operands{divisor};
    for (const Value& gradient : all) {
      if (gradient.defined()) operands.push_back(gradient);
    }
    const Values out = insert(ops::gradient_multiplier, operands, {{"clipnorm", bound}});
    step.multiplier = out[0];
    gate_of_gradients(out[1]);
  };
  if (scaled || (clipnorm > 0 && !accumulates)) {
    unscale(scale, accumulates ? 0 : clipnorm);
  } else {
    // One check for each gradient, which runs where the gradient is computed and is still in the cache.
    for (const Value& gradient : all) {
      if (gradient.defined()) gate_of_gradients(insert_one(ops::all_finite, {gradient}));
    }
  }
  std::vector<std::shared_ptr<VariableState>>& updated = updated_[handle.index()];
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].defined()) updated.push_back(weights[i].variable);
  }
  if (purpose_ == Purpose::survey) return;
  std::vector<std::string> paths;
  for (const Trained& weight : weights) paths.push_back(weight.path);
  optimizer.require_groups(paths);
  trace.update_group = group;
  if (accumulates && !completes) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].defined()) optimizer.accumulate(weights[i].variable, all[i], step.multiplier);
    }
    trace.update_group = -1;
    return;
  }
  Value divisor = scale;
  if (accumulates) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].defined()) all[i] = optimizer.accumulated(weights[i].variable, all[i], step.multiplier);
    }
    divisor = Tensor::scalar(static_cast<double>(optimizer.accumulation_steps()), DType::float64);
    unscale(divisor, clipnorm);
  }
  Values exact = all;  // gradients of the mean loss, as the hook sees them
  const auto divided = [&](const Value& gradient) {
    const DType dtype = accumulation_dtype(gradient.dtype());
    return cast(gradient, dtype) / cast(divisor, dtype);
  };
  for (Value& gradient : exact) {
    if (gradient.defined() && (scaled || accumulates)) gradient = divided(gradient);
  }
  if (show(weights, exact, [&](Gradients& gradients) { module_.on_before_optimizer_step(gradients, handle); })) {
    all = exact;
    step.multiplier = one;
    unscale(one, clipnorm);
  }
  if (clip_ && clip_->by_element) {
    for (Value& gradient : all) {
      if (!gradient.defined()) continue;
      const DType dtype = accumulation_dtype(gradient.dtype());
      const auto bound = [&](double number) { return Value(Tensor::scalar(number, dtype)); };
      gradient = clip(cast(gradient, dtype) * cast(step.multiplier, dtype), bound(-clip_->bound), bound(clip_->bound));
    }
    step.multiplier = one;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    step.path = weights[i].path;
    if (!all[i].defined()) continue;
    optimizer.apply(weights[i].variable, all[i], step);
    constrain(weights[i].variable);
  }
  trace.update_group = -1;
}

bool StepContext::show(const std::vector<Trained>& weights, Values& values,
                       const std::function<void(Gradients&)>& hook) {
  Gradients gradients;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].defined())
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
    if (!value.defined()) continue;
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

void StepContext::finish(const Value& loss) {
  if (!minimized_.empty()) return;
  if (optimizers_.size() != 1) {
    fail<ValueError>("[Trainer]",
                     "training_step must call minimize(loss, optimizer(name)) if there are several optimizers; got {} "
                     "optimizers and no call",
                     optimizers_.size());
  }
  minimize(loss, OptimizerHandle(0));
}

void require_one_output(std::size_t outputs, const std::string& where, const std::string& verb) {
  if (outputs == 1) return;
  fail<ValueError>(where, "{}: the model must have one output; got {}: predict_all of a Model returns all", verb,
                   outputs);
}

Value mean_of(const Value& value) {
  const LibraryScope as_inserted;
  const DType dtype = accumulation_dtype(value.dtype());
  const Value wide = value.dtype() == dtype ? value : cast(value, dtype);
  return wide.shape().empty() ? wide : mean(wide);
}

}  // namespace detail

}  // namespace mezzo
