#pragma once
#include <any>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/nn/gradient.hpp>
#include <mezzo/nn/optimizer_options.hpp>
#include <mezzo/nn/variable.hpp>
#include <mezzo/precision/loss_scale.hpp>

namespace mezzo {

/// Variables that Optimizer::exclude_from_weight_decay() names.
struct ExcludeOptions {
  std::vector<Variable> var_list{};      ///< these variables
  std::vector<std::string> var_names{};  ///< and variables with a path that contains a match of one of these regular
                                         ///< expressions
};

/// Options of Optimizer::apply().
struct ApplyOptions {
  /// False skips the update: weights, moments and the number of updates stay, and gradients may be infinite or NaN.
  /// Bool of shape (); undefined: true.
  Value condition{};
};

namespace detail {
struct UpdateTerms;
}  // namespace detail

/// Base of optimizers. Holds slots (moments, momentum) and counters; copies share them.
class MEZZO_API Optimizer : public detail::MoveChecked {
 public:
  /// Number of updates made. A skipped step does not count, and a window of accumulated gradients counts once. A
  /// ValueError inside the function of compile_step(), where the number would be that of the first run.
  std::int64_t iterations() const;

  /// Learning rate of the next update, or of the one `later` updates after it. Errors as iterations().
  double learning_rate(std::int64_t later = 0) const;

  /// One update of weights by the result of value_and_grad(), in a training loop of your own:
  ///
  ///     const auto [loss, gradients] = value_and_grad(model, [&] { return ...; });
  ///     optimizer.apply(gradients);
  ///
  /// Clips, decays, averages and constrains as training does. Works at once and inside of compile_step(). Gradients
  /// with an undefined value are left out. A ValueError if none is left, a weight is given twice, a gradient is not
  /// finite, none of the weights is one that the optimizer updated before, inside the function of value_and_grad(), or
  /// inside a step of a Trainer, where Module::minimize() is to be used; a ShapeError for a gradient of another shape,
  /// a DTypeError for one that is not floating. No variable has changed then.
  void apply(const Gradients& gradients, const ApplyOptions& options = {});

  /// The same for variables without a model: `optimizer.apply({slope}, {image})`. A ValueError if there are not as many
  /// gradients as variables, or for an undefined gradient. Other errors as above.
  void apply(const Values& gradients, const std::vector<Variable>& variables);

  /// Sets the learning rate of this optimizer and its copies from the next update on. A ValueError for a negative
  /// number, for a number if the rate is a Schedule, and inside the function of compile_step().
  void set_learning_rate(const detail::LearningRate& learning_rate);

  /// Leaves the weights of these variables out of weight decay. Replaces earlier calls; copies share the choice. A
  /// ValueError after the first update, or for an invalid regular expression.
  void exclude_from_weight_decay(const ExcludeOptions& options);

  /// All slots that exist: moments, momentum, averages, accumulated gradients, compensations.
  std::vector<Variable> variables() const;

  /// Swaps weights and their averages of use_ema: once before an evaluation, once after it. Training in between is a
  /// ValueError. A ValueError without use_ema.
  void swap_averages();

  /// Replaces the weights by their averages, as `fit` of a Model does at its end. After swap_averages() the averages
  /// stay, and the replaced weights are dropped. No effect without use_ema.
  void finalize_variable_values();

  /// Options that all optimizers have.
  const OptimizerCommon& common() const {
    check_not_moved();
    return common_;
  }

  /// Options struct passed to the optimizer's constructor; empty if the constructor does not use common_options().
  const std::any& made_of() const { return common().made_of; }

  /// The option `name`, or the class name.
  const std::string& name() const { return common().name.empty() ? kind_ : common_.name; }

  /// The optimizer of that Keras name ("adam", "SGD", "rmsprop") with its default options. A NameError lists the valid
  /// names.
  static Any<Optimizer> from_name(const std::string& name);

  /// Inputs of apply() that change from step to step.
  struct Step {
    Value learning_rate;      ///< float64 ()
    Value count;              ///< float64 (): number of this update, from 1
    Value multiplier;         ///< float64 (): factor of all gradients (unscaling, clipping by the global norm)
    std::string path{};       ///< path of the variable, a key of its random numbers; "": its name
    double weight_decay = 0;  ///< weight decay of the variable; set by apply()
  };

  /// apply() with the terms of a GradScaler.
  void apply_by(const Gradients& gradients, const detail::UpdateTerms& terms);

  /// Inserts the update of one variable: its group's learning rate and weight decay, update_step(), its average.
  void apply(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient, Step step);

  /// Inserts the sum of one gradient, times the multiplier, to the variable's accumulator.
  void accumulate(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                  const Value& multiplier);

  /// Sum of the accumulated gradients and this one, in float32 (float64 for float64). Inserts the accumulator's reset.
  Value accumulated(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                    const Value& multiplier);

  /// Sum of the accumulated gradients, float32 (float64 for float64). Inserts the accumulator's reset.
  Value take_accumulated(const std::shared_ptr<detail::VariableState>& variable);

  /// Number of steps whose mean gradient makes one update: that of a Trainer's window, else
  /// gradient_accumulation_steps. 0 or 1: each step updates, and nothing is accumulated.
  std::int64_t accumulation_steps() const {
    return state_->window ? state_->window->steps : common_.gradient_accumulation_steps;
  }

  /// True if the next step updates the variables, false if it only accumulates gradients.
  bool completes_window() const {
    return state_->accumulated + 1 >= accumulation_steps() || (state_->window && state_->window->ends);
  }

  /// Counts a step that was not skipped, and overwrites the weights every ema_overwrite_frequency updates.
  void count_step();

  /// Inserts the update of one variable by its gradient.
  virtual void update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                           const Step& step) = 0;

  /// Names of the slots of the update rule, in order.
  virtual std::vector<std::string> slot_names() const { return {}; }

  /// Shape of that slot of a variable.
  virtual Shape slot_shape(const std::string&, const Shape& variable) const { return variable; }

  /// True if a variable that was updated must have that slot.
  virtual bool needs_slot(const std::string&, const Shape&) const { return true; }

  /// Squares of gradients that the update rule computes. With some, and without clipping, a gradient whose squares
  /// would overflow is an error that changes nothing.
  enum class Squares {
    none,
    averages,  ///< weighted means over updates, as Adam's second moment
    sums       ///< sums over updates or elements
  };

  /// Overridden by rules that compute squares. Default: none.
  virtual Squares squares() const { return Squares::none; }

  /// First value of that slot, float32 or float64. Empty, as by default: zeros.
  virtual Tensor initial_slot(const std::string& slot, const detail::VariableState& variable) const;

  /// slot_names() and the slots for accumulated gradients and averages. Checkpoints store slots under these names.
  std::vector<std::string> all_slot_names() const;

  /// Shape of that slot of all_slot_names().
  Shape shape_of_slot(const std::string& slot, const Shape& variable) const;

  /// True if a variable must have that slot of all_slot_names() after `iterations` updates and `accumulated` steps.
  bool has_slot_after(const std::string& slot, const Shape& variable, std::int64_t iterations,
                      std::int64_t accumulated) const;

  /// Throws a ValueError for a storage option (split_master_weights, stochastic_rounding, kahan_summation, state_dtype)
  /// that acts on none of the variables, or that a variable does not support.
  void require_effect(const std::vector<std::shared_ptr<detail::VariableState>>& variables) const;

  /// Throws a ValueError for a group that matches none of the paths, or for a path that several groups match.
  void require_groups(const std::vector<std::string>& paths) const;

  /// Throws a ValueError while weights and averages are swapped.
  void require_trainable() const;

  /// Slots of one variable.
  struct Slots {
    detail::Shared<detail::VariableState> variable;             ///< the trained variable
    std::vector<detail::Shared<detail::VariableState>> values;  ///< its states, in the order of the rule
  };

  /// Name of the slot that sums gradients over the steps of a window.
  static constexpr const char* accumulator_name = "gradient_accumulator";

  /// Name of the slot that keeps the rounding error under kahan_summation. It follows those of all_slot_names().
  static constexpr const char* compensation_name = "compensation";

  /// True if the variable has a compensation slot.
  bool compensates(const detail::VariableState& variable) const;

  /// State that copies share.
  struct State {
    /// Tag: a state without numbers.
    struct Blank {};
    State() = default;
    explicit State(Blank) {}  ///< for copies that are filled by copy_from()

    /// Copies all fields, for clones of the optimizer that train apart.
    void copy_from(const State& other) {
      *this = other;
      owner.reset();  // of a clone: it trains another model
    }

    std::int64_t iterations = 0;   ///< updates made
    std::int64_t accumulated = 0;  ///< steps since the last update whose gradients are accumulated
    /// Window of accumulated gradients that a Trainer sets in place of gradient_accumulation_steps.
    struct Window {
      std::int64_t steps = 1;  ///< number of steps whose mean gradient makes one update
      bool ends = false;       ///< true: the window ends with the next step, even if it has fewer steps
    };
    std::optional<Window> window{};  ///< nullopt: gradient_accumulation_steps
    LossScale loss_scale;            ///< scale of the loss under float16
    std::vector<Slots> slots;        ///< one entry per variable that was updated
    /// Identity of the model that it trains, also after the model is destroyed; none before the first training.
    std::optional<std::weak_ptr<const void>> owner{};

    // Settings of the user, which reset() keeps.
    std::optional<detail::LearningRate> learning_rate{};            ///< rate set by set_learning_rate()
    std::vector<detail::Shared<detail::VariableState>> excluded{};  ///< from weight decay
    std::vector<std::string> excluded_names{};                      ///< regular expressions
    std::vector<detail::Shared<detail::VariableState>> applied{};   ///< weights that apply() has updated
    std::vector<std::pair<detail::Shared<detail::VariableState>, Tensor>>
        swapped{};  ///< weights that swap_averages() replaced
  };
  const detail::Shared<State>& state() const { return state_; }  ///< shared with copies of this optimizer

  /// Clears slots and counters. Keeps the learning rate that was set and the exclusions from weight decay.
  void reset();

 protected:
  /// `kind` is the class name for errors: "Adam". Throws a ValueError for a negative number, more than one clip, more
  /// than one of split_master_weights, stochastic_rounding and kahan_summation, a state_dtype other than float32,
  /// bfloat16 and int8, options of averages without use_ema, gradient_accumulation_steps of 1, or a bad group.
  Optimizer(std::string kind, OptimizerCommon common);
  Optimizer(const Optimizer&) = default;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(const Optimizer&) = default;
  Optimizer& operator=(Optimizer&&) = default;

  /// Dtype of a variable's slots: float64 for float64, otherwise state_dtype; float32 in place of int8 for variables
  /// of fewer than 4096 elements, and for tables of which the step only looks rows up.
  DType slot_dtype(const std::shared_ptr<detail::VariableState>& variable) const;

  /// Slot `name` of a variable, made by initial_slot() at the first call and converted to `dtype`. With int8 it is
  /// stored as graph/coded_state.hpp describes.
  std::shared_ptr<detail::VariableState> slot(const std::shared_ptr<detail::VariableState>& variable,
                                              const std::string& name, DType dtype);

  /// Arguments of update() for an update op.
  struct Update {
    const Op* op = nullptr;          ///< the op
    std::vector<std::string> slots;  ///< names of its slots
    Values numbers;                  ///< inputs of the op after the slots, each float64 ()
    Attributes attributes;           ///< attributes of the op
  };

  /// Inserts the update op of a variable and its slots. Applies the storage options (split_master_weights,
  /// stochastic_rounding, kahan_summation, state_dtype).
  void update(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient, const Step& step,
              Update update);

  /// The same by optimizer_update. `numbers`: the rule's attributes. Uses all of slot_names().
  void update_by_rule(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient, const Step& step,
                      const std::string& rule, const Attributes& numbers);

  /// Weight decay of a variable that no group names: the option weight_decay.
  virtual double default_weight_decay(const detail::VariableState&, const std::string&) const {
    return common_.weight_decay;
  }

  /// Factor of one gradient, float64 (): the step's multiplier, times the factor of clipnorm for the unscaled gradient.
  Value gradient_multiplier(const Value& gradient, const Step& step) const;

  /// Throws a ValueError with the text `[kind] text` unless `good`.
  void require(bool good, const std::string& text) const;

  /// Throws a ValueError unless the option lies in [0, 1), or is finite and at least 0.
  void require_fraction(const char* option, double value) const;
  void require_at_least_0(const char* option, double value) const;

  /// Throws a ValueError for a state_dtype of int8. `what`: numbers that 8 bits don't hold.
  void require_wide_states(const char* what) const;

  /// Throws a ValueError unless both betas lie in [0, 1) and epsilon is at least 0.
  void require_moments(double beta_1, double beta_2, double epsilon) const;

 private:
  std::string label() const {
    return common_.name.empty() ? "[" + kind_ + "]" : "[" + kind_ + " \"" + common_.name + "\"]";
  }
  void update_now(const Gradients& gradients, const detail::UpdateTerms& terms);
  void note_applied(const Gradients& gradients);
  const ParameterGroup* group_of(const std::string& path) const;
  void check_windows() const;
  bool excluded(const detail::VariableState& variable, const std::string& path) const;
  void update_average(const std::shared_ptr<detail::VariableState>& variable, const Step& step);
  Slots& slots_of(const std::shared_ptr<detail::VariableState>& variable);

  std::string kind_;
  OptimizerCommon common_;
  detail::Shared<State> state_{std::in_place};
};

}  // namespace mezzo
