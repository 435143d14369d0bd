#include <mezzo/training/custom_loops/grad_scaler.hpp>

#include <cmath>
#include <limits>
#include <map>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/nn/loop_step.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

constexpr const char* scaler_label = "[GradScaler]";

Value exact(double x) { return Value(Tensor::scalar(x, DType::float64)); }

Variable scalar_variable(const char* name, double value, DType dtype) {
  Variable out(name);
  out.assign(Tensor::scalar(value, dtype));
  return out;
}

Value in_float64(const Variable& variable) { return cast(Value(variable).across_border(false), DType::float64); }

void check_scale(const char* option, double scale) {
  const auto rounded = static_cast<float>(scale);
  if (rounded > 0 && std::isfinite(rounded)) return;
  fail<ValueError>(scaler_label, "{} must be greater than 0 and finite in float32; got {}", option, scale);
}

/// True if all elements of the gradients are finite: bool ().
Value finite(const Gradients& gradients) {
  Values operands{exact(1)};
  for (const Gradient& gradient : gradients) {
    if (gradient.value.defined()) operands.push_back(gradient.value);
  }
  return insert(ops::gradient_multiplier, operands, {{"clipnorm", 0.0}})[1];
}

}  // namespace

struct GradScaler::State {
  explicit State(const GradScalerOptions& given)
      : options(given),
        scale(scalar_variable("grad_scaler/scale", given.init_scale, DType::float32)),
        tracker(scalar_variable("grad_scaler/growth_tracker", 0, DType::float64)) {}

  /// Calls for an optimizer since update().
  struct Done {
    bool unscaled = false, stepped = false;
    Value all_finite{};  // of its gradients
  };

  /// Forgets what was recorded in another trace of compile_step(), or outside of one.
  void begin();
  Done& of(const Optimizer& optimizer) { return done[optimizer.state().pointer()]; }

  GradScalerOptions options;
  Variable scale, tracker;
  std::map<std::shared_ptr<const void>, Done> done;  // by the state of the optimizer
  bool traced = false;                               // `done` is of a trace
  std::weak_ptr<const void> trace;
};

void GradScaler::State::begin() {
  const detail::LoopStep* const step = detail::LoopStep::innermost();
  const bool same = step == nullptr ? !traced : traced && trace.lock() == step->identity().lock();
  if (same) return;
  done.clear();
  traced = step != nullptr;
  trace = step != nullptr ? step->identity() : std::weak_ptr<const void>();
}

GradScaler::GradScaler(const GradScalerOptions& options) {
  const auto require = [](bool good, const char* option, const char* range, double value) {
    if (!good) fail<ValueError>(scaler_label, "{} must be {}; got {}", option, range, value);
  };
  check_scale("init_scale", options.init_scale);
  const double growth = options.growth_factor, backoff = options.backoff_factor;
  require(growth > 1 && std::isfinite(growth), "growth_factor", "finite and greater than 1", growth);
  require(backoff > 0 && backoff < 1, "backoff_factor", "between 0 and 1", backoff);
  require(options.growth_interval >= 1, "growth_interval", "at least 1", static_cast<double>(options.growth_interval));
  state_ = std::make_shared<State>(options);
}

Value GradScaler::scale(const Value& loss) const {
  if (!state_->options.enabled) return loss;
  const detail::LibraryScope as_inserted;
  if (!loss.defined()) fail<ValueError>(scaler_label, "scale: the loss must be defined; got an undefined Value");
  if (!is_floating(loss.dtype()))
    fail<DTypeError>(scaler_label, "scale: the loss must be a float; got {}", loss.dtype());
  const DType dtype = accumulation_dtype(loss.dtype());
  return cast(loss, dtype) * stop_gradient(cast(Value(state_->scale).across_border(false), dtype));
}

Gradients GradScaler::unscale(const Optimizer& optimizer, const Gradients& gradients) {
  if (!state_->options.enabled) return gradients;
  state_->begin();
  const detail::LibraryScope as_inserted;
  State::Done& done = state_->of(optimizer);
  if (done.stepped) {
    fail<ValueError>(scaler_label, "unscale must be called before step(); got a call after it, for {}",
                     optimizer.name());
  }
  if (done.unscaled) {
    fail<ValueError>(scaler_label,
                     "unscale must be called once for each optimizer between calls of update(); got a "
                     "second call for {}",
                     optimizer.name());
  }
  done.all_finite = finite(gradients);
  done.unscaled = true;
  const Value factor = cast(exact(1) / in_float64(state_->scale), DType::float32);
  Gradients out = gradients;
  for (Gradient& gradient : out) {
    if (!gradient.value.defined()) continue;
    const DType dtype = accumulation_dtype(gradient.value.dtype());
    gradient.value = cast(cast(gradient.value, dtype) * cast(factor, dtype), gradient.value.dtype());
  }
  return out;
}

void GradScaler::step(Optimizer& optimizer, const Gradients& gradients) {
  if (!state_->options.enabled) return optimizer.apply(gradients);
  state_->begin();
  const detail::LibraryScope as_inserted;
  State::Done done = state_->of(optimizer);
  if (done.stepped) {
    fail<ValueError>(scaler_label,
                     "step must be called once for each optimizer between calls of update(); got a "
                     "second call for {}",
                     optimizer.name());
  }
  detail::UpdateTerms terms{.checks_finite = false};
  if (!done.unscaled) {
    done.all_finite = finite(gradients);
    terms.multiplier = exact(1) / in_float64(state_->scale);
  }
  terms.condition = done.all_finite;
  optimizer.apply_by(gradients, terms);
  done.stepped = true;
  state_->of(optimizer) = done;
}

void GradScaler::update() {
  State& state = *state_;
  if (!state.options.enabled) return;
  state.begin();
  const detail::LibraryScope as_inserted;
  Value all_finite;
  for (const auto& [optimizer, done] : state.done) {
    all_finite = all_finite.defined() ? logical_and(all_finite, done.all_finite) : done.all_finite;
  }
  if (!all_finite.defined()) {
    fail<ValueError>(scaler_label,
                     "update must follow step() or unscale(), in compile_step() within the same function; "
                     "got a call without");
  }
  const GradScalerOptions& options = state.options;
  const Value scale = in_float64(state.scale), tracker = in_float64(state.tracker) + exact(1);
  const Value due = tracker == exact(static_cast<double>(options.growth_interval));
  const Value grown = scale * exact(options.growth_factor);
  const Value fits = grown <= exact(static_cast<double>(std::numeric_limits<float>::max()));
  const Value after_finite = where(logical_and(due, fits), grown, scale);
  const Value next = where(all_finite, after_finite, scale * exact(options.backoff_factor));
  update_variable(state.tracker.state().pointer(), where(logical_and(all_finite, logical_not(due)), tracker, exact(0)));
  update_variable(state.scale.state().pointer(), cast(next, DType::float32));
  state.done.clear();
}

void GradScaler::update(double new_scale) {
  if (!state_->options.enabled) return;
  check_scale("update: new_scale", new_scale);
  state_->begin();
  update_variable(state_->scale.state().pointer(), Value(Tensor::scalar(new_scale, DType::float32)));
  state_->done.clear();
}

double GradScaler::get_scale() const {
  detail::LoopStep::refuse_frozen("GradScaler", "get_scale()", "scale() reads the scale of each run");
  return state_->options.enabled ? state_->scale.value().item() : 1;
}

GradScalerState GradScaler::state() const {
  detail::LoopStep::refuse_frozen("GradScaler", "state()", "save it after a run");
  return {state_->scale.value().item(), static_cast<std::int64_t>(state_->tracker.value().item())};
}

void GradScaler::set_state(const GradScalerState& state) {
  detail::LoopStep::refuse_frozen("GradScaler", "set_state()", "load it before a run");
  check_scale("state: scale", state.scale);
  if (state.growth_tracker < 0) {
    fail<ValueError>(scaler_label, "state: growth_tracker must be at least 0; got {}", state.growth_tracker);
  }
  state_->scale.assign(Tensor::scalar(state.scale, DType::float32));
  state_->tracker.assign(Tensor::scalar(static_cast<double>(state.growth_tracker), DType::float64));
  state_->done.clear();
}

const GradScalerOptions& GradScaler::options() const { return state_->options; }

}  // namespace mezzo
