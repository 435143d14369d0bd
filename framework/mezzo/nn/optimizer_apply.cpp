// One update outside of steps, for training loops of users.
#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/square_limit.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/nn/penalties.hpp>
#include <mezzo/nn/update_checks.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

void check_pairs(const std::string& where, const Values& gradients, const std::vector<Variable>& variables,
                 double headroom) {
  if (Trace::current() != nullptr) {
    fail<ValueError>(where, "apply must be called outside of a step; got a call inside of one, which has minimize()");
  }
  if (gradients.size() != variables.size() || variables.empty()) {
    fail<ValueError>(where, "apply: there must be one gradient for each variable; got {} gradients of {} variables",
                     gradients.size(), variables.size());
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const std::string gradient = fmt::format("apply: the gradient of variable \"{}\"", variable.name());
    if (!variable.filled()) {
      fail<ValueError>(where, "apply: variable \"{}\" must have numbers; got none", variable.name());
    }
    if (!gradients[i].defined()) fail<ValueError>(where, "{} must be defined; got an undefined Value", gradient);
    if (gradients[i].shape() != variable.shape()) {
      fail<ShapeError>(where, "{} must have shape {}; got {}", gradient, variable.shape(), gradients[i].shape());
    }
    if (!is_floating(gradients[i].dtype())) {
      fail<DTypeError>(where, "{} must be floating; got {}", gradient, gradients[i].dtype());
    }
    const auto same = [&](const Variable& other) { return other.id() == variable.id(); };
    if (std::count_if(variables.begin(), variables.end(), same) > 1) {
      fail<ValueError>(where, "apply: variables must differ; got \"{}\" twice", variable.name());
    }
    if (insert_one(ops::all_finite, {gradients[i]}).item() == 0) {
      fail<ValueError>(where, "{} must be finite; got NaN or infinity", gradient);
    }
    if (headroom > 0 && insert_one(ops::all_finite, {gradients[i]}, {{"headroom", headroom}}).item() == 0) {
      fail<ValueError>(where, "{} must be finite when it is squared; got a magnitude of {:.1e} or more", gradient,
                       largest_square_root(gradients[i].dtype()) / headroom);
    }
  }
}

}  // namespace

void Optimizer::apply(const Values& gradients, const std::vector<Variable>& variables) {
  check_not_moved();
  const detail::LibraryScope as_inserted;
  const std::string where = common_.name.empty() ? "[" + kind_ + "]" : fmt::format("[{} \"{}\"]", kind_, common_.name);
  check_pairs(where, gradients, variables, detail::square_headroom(*this));
  require_trainable();
  std::vector<std::string> paths;
  for (const Variable& variable : variables) paths.push_back(variable.name());
  require_groups(paths);

  Trace trace(Trace::Mode::eager, true);
  trace.runtime_values[{detail::RuntimeScalar::seed}] = static_cast<double>(seed());
  const auto number = [](double x) { return Value(Tensor::scalar(x, DType::float64)); };
  Step step{.learning_rate = number(detail::finite_learning_rate(*this)),
            .count = number(static_cast<double>(state_->iterations + 1)),
            .multiplier = number(1)};
  Values all = gradients;
  double windows = 1;
  if (accumulation_steps() > 1) {
    const bool completes = completes_window();
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const auto& variable = variables[i].state().pointer();
      if (completes) {
        all[i] = accumulated(variable, all[i], step.multiplier);
      } else {
        accumulate(variable, all[i], step.multiplier);
      }
    }
    windows = static_cast<double>(accumulation_steps());
  }
  if (completes_window()) {
    Values operands{number(windows)};
    operands.insert(operands.end(), all.begin(), all.end());
    step.multiplier = insert(ops::gradient_multiplier, operands, {{"clipnorm", common_.global_clipnorm}})[0];
    for (std::size_t i = 0; i < variables.size(); ++i) {
      step.path = paths[i];
      apply(variables[i].state().pointer(), all[i], step);
      detail::constrain(variables[i].state().pointer());
    }
  }
  for (const auto& update : trace.graph().updates) update.variable->store(update.value.tensor());
  count_step();
}

}  // namespace mezzo
