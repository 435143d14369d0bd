// Updates outside of a Trainer's steps, for training loops of users.
#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/square_limit.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/loop_step.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/nn/penalties.hpp>
#include <mezzo/nn/update_checks.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

/// Throws a ValueError where an update can't be made. `where` begins the text.
void check_place(const std::string& where) {
  if (detail::DifferentiatedScope::innermost() != nullptr) {
    fail<ValueError>(where,
                     "apply must be called after value_and_grad; got a call in its function (an update that is "
                     "differentiated is weights - rate * gradients, for functional_call)");
  }
  if (Trace::current() != nullptr && detail::LoopStep::innermost() == nullptr) {
    fail<ValueError>(where, "apply must be called outside of a step; got a call inside of one, which has minimize()");
  }
}

std::string named(const Gradient& gradient) {
  return fmt::format("apply: the gradient of variable \"{}\"", gradient.path);
}

void check_gradients(const std::string& where, const Gradients& gradients) {
  for (const Gradient& gradient : gradients) {
    const Variable& variable = gradient.weight;
    if (!variable.filled()) {
      fail<ValueError>(where, "apply: variable \"{}\" must have numbers; got none", gradient.path);
    }
    if (!gradient.value.defined()) {
      fail<ValueError>(where, "{} must be defined; got an undefined Value", named(gradient));
    }
    if (gradient.value.shape() != variable.shape()) {
      fail<ShapeError>(where, "{} must have shape {}; got {}", named(gradient), variable.shape(),
                       gradient.value.shape());
    }
    if (!is_floating(gradient.value.dtype())) {
      fail<DTypeError>(where, "{} must be floating; got {}", named(gradient), gradient.value.dtype());
    }
    const auto same = [&](const Gradient& other) { return other.weight.id() == variable.id(); };
    if (std::count_if(gradients.begin(), gradients.end(), same) > 1) {
      fail<ValueError>(where, "apply: variables must differ; got \"{}\" twice", gradient.path);
    }
  }
}

/// Throws a ValueError for numbers that are infinite, NaN, or overflow when the rule squares them.
void check_finite(const std::string& where, const Gradient& gradient, double headroom) {
  if (insert_one(ops::all_finite, {gradient.value}).item() == 0) {
    fail<ValueError>(where, "{} must be finite; got NaN or infinity", named(gradient));
  }
  if (headroom > 0 && insert_one(ops::all_finite, {gradient.value}, {{"headroom", headroom}}).item() == 0) {
    fail<ValueError>(where, "{} must be finite when it is squared; got a magnitude of {:.1e} or more", named(gradient),
                     largest_square_root(gradient.value.dtype()) / headroom);
  }
}

Value number(double x) { return Value(Tensor::scalar(x, DType::float64)); }

}  // namespace

void Optimizer::apply(const Gradients& gradients, const ApplyOptions& options) {
  apply_by(gradients, {.condition = options.condition});
}

void Optimizer::apply(const Values& gradients, const std::vector<Variable>& variables) {
  check_not_moved();
  check_place(label());
  if (gradients.size() != variables.size() || variables.empty()) {
    fail<ValueError>(label(), "apply: there must be one gradient for each variable; got {} gradients of {} variables",
                     gradients.size(), variables.size());
  }
  Gradients pairs;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    pairs.push_back({variables[i].name(), variables[i], gradients[i]});
  }
  check_gradients(label(), pairs);
  update_now(pairs, {});
}

void Optimizer::apply_by(const Gradients& gradients, const detail::UpdateTerms& terms) {
  check_not_moved();
  check_place(label());
  Gradients used;
  std::copy_if(gradients.begin(), gradients.end(), std::back_inserter(used),
               [](const Gradient& gradient) { return gradient.value.defined(); });
  if (used.empty()) {
    fail<ValueError>(label(), "apply: there must be a gradient; got {}", gradients.empty() ? "none" : "undefined ones");
  }
  check_gradients(label(), used);
  const Value& condition = terms.condition;
  if (condition.defined() && (condition.dtype() != DType::boolean || !condition.shape().empty())) {
    fail<ShapeError>(label(), "apply: condition must be bool of shape (); got {} of shape {}", condition.dtype(),
                     condition.shape());
  }
  note_applied(used);
  update_now(used, terms);
}

void Optimizer::note_applied(const Gradients& gradients) {
  auto& applied = state_->applied;
  const auto known = [&](const Gradient& gradient) {
    const auto same = [&](const auto& one) { return one.get() == gradient.weight.id(); };
    const auto has_slots = [&](const Slots& slots) { return slots.variable.get() == gradient.weight.id(); };
    return std::any_of(applied.begin(), applied.end(), same) ||
           std::any_of(state_->slots.begin(), state_->slots.end(), has_slots);
  };
  const bool first = applied.empty() && state_->slots.empty();
  if (!first && std::none_of(gradients.begin(), gradients.end(), known)) {
    fail<ValueError>(
        label(),
        "an optimizer trains one model; got gradients of other weights (\"{}\") than it has updated: make a "
        "new optimizer for them",
        gradients.front().path);
  }
  for (const Gradient& gradient : gradients) {
    if (!known(gradient)) applied.push_back(gradient.weight.state());
  }
}

void Optimizer::update_now(const Gradients& gradients, const detail::UpdateTerms& terms) {
  const detail::LibraryScope as_inserted;
  if (detail::LoopStep* const step = detail::LoopStep::innermost()) return step->apply(*this, gradients, terms);
  if (terms.condition.defined() && terms.condition.item() == 0) return;
  if (terms.checks_finite) {
    for (const Gradient& gradient : gradients) check_finite(label(), gradient, detail::square_headroom(*this));
  }
  require_trainable();
  std::vector<std::string> paths;
  Values all;
  for (const Gradient& gradient : gradients) {
    paths.push_back(gradient.path);
    all.push_back(gradient.value);
  }
  require_groups(paths);

  Trace trace(Trace::Mode::eager, true);
  trace.runtime_values[{detail::RuntimeScalar::seed}] = static_cast<double>(seed());
  Step step{.learning_rate = number(detail::finite_learning_rate(*this)),
            .count = number(static_cast<double>(state_->iterations + 1)),
            .multiplier = terms.multiplier.defined() ? terms.multiplier : number(1)};
  Value divisor = number(1) / step.multiplier;
  if (accumulation_steps() > 1) {
    const bool completes = completes_window();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& variable = gradients[i].weight.state().pointer();
      if (completes) {
        all[i] = accumulated(variable, all[i], step.multiplier);
      } else {
        accumulate(variable, all[i], step.multiplier);
      }
    }
    divisor = number(static_cast<double>(accumulation_steps()));
  }
  if (completes_window()) {
    Values operands{divisor};
    operands.insert(operands.end(), all.begin(), all.end());
    step.multiplier = insert(ops::gradient_multiplier, operands, {{"clipnorm", common_.global_clipnorm}})[0];
    for (std::size_t i = 0; i < all.size(); ++i) {
      step.path = paths[i];
      apply(gradients[i].weight.state().pointer(), all[i], step);
      detail::constrain(gradients[i].weight.state().pointer());
    }
  }
  for (const auto& update : trace.graph().updates) update.variable->store(update.value.tensor());
  count_step();
}

}  // namespace mezzo
