#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/nn/schedule.hpp>
#include <mezzo/precision/loss_scale.hpp>

namespace mezzo {

/// Options of all optimizers, with Keras' names. At most one of the three clips may be set, and at most one of
/// split_master_weights, stochastic_rounding and kahan_summation. Each of the latter acts on variables of the dtypes
/// that it names and does not change others.
struct OptimizerCommon {
  LearningRate learning_rate = 1e-3;  ///< a number of at least 0, or a Schedule
  double weight_decay = 0;            ///< decoupled, at least 0: w -= learning_rate * weight_decay * w
  double clipnorm = 0;                ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;               ///< clips each element of a gradient to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;         ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  /// Stores a float32 variable that layers read in bfloat16 as that bfloat16 and a 16-bit remainder (IPEX): 4 bytes an
  /// element instead of 6, without loss.
  bool split_master_weights = false;
  /// Rounds updated bfloat16 variables up or down at random, so that the expected value is exact. Results depend on
  /// seed, step, path and position in the variable, not on the machine or the number of threads.
  bool stochastic_rounding = false;
  /// Keeps the rounding error of bfloat16 and float16 variables, in their dtype, and adds it at the next step (Kahan,
  /// 1965).
  bool kahan_summation = false;
  /// Dtype of slots (moments, momentum): float32, or bfloat16 with stochastic rounding. Slots of float64 variables are
  /// float64.
  DType state_dtype = DType::float32;
};

/// Base of optimizers. Holds slots (moments, momentum) and counters; copies share them.
class MEZZO_API Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Number of updates made. A skipped step does not count.
  std::int64_t iterations() const { return state_->iterations; }

  /// Learning rate of the next update.
  double learning_rate() const;

  /// Sets the learning rate of this optimizer and its copies from the next update on. A ValueError for a negative
  /// number, and for a number if the rate is a Schedule.
  void set_learning_rate(const LearningRate& learning_rate);

  /// Options that all optimizers have.
  const OptimizerCommon& common() const { return common_; }

  /// The optimizer of that Keras name ("adam", "adamw", "sgd") with its default options. A NameError lists the valid
  /// names.
  static Any<Optimizer> from_name(const std::string& name);

  /// Inputs of apply() that change from step to step.
  struct Step {
    Value learning_rate;  ///< float64 ()
    Value count;          ///< float64 (): number of this update, from 1
    Value multiplier;     ///< float64 (): factor of all gradients (unscaling, clipping by the global norm)
    std::string path{};   ///< path of the variable, a key of its random numbers; "": its name
  };

  /// Inserts the update of one variable by its gradient, as one node.
  virtual void apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) = 0;

  /// Names of a variable's slots, in order. Checkpoints store slots under these names.
  virtual std::vector<std::string> slot_names() const { return {}; }

  /// Throws a ValueError for a storage option (split_master_weights, stochastic_rounding, kahan_summation, state_dtype)
  /// that acts on none of the variables, or that a variable does not support.
  void require_effect(const std::vector<std::shared_ptr<VariableState>>& variables) const;

  /// Slots of one variable.
  struct Slots {
    Shared<VariableState> variable;
    std::vector<Shared<VariableState>> values;
  };

  /// Name of the slot that keeps the rounding error under kahan_summation. It follows those of slot_names().
  static constexpr const char* compensation_name = "compensation";

  /// True if the variable has a compensation slot.
  bool compensates(const VariableState& variable) const;

  /// State that copies share.
  struct State {
    struct Blank {};
    State() = default;
    explicit State(Blank) {}
    void copy_from(const State& other) { *this = other; }

    std::int64_t iterations = 0;  ///< updates made
    LossScale loss_scale;         ///< scale of the loss under float16
    std::vector<Slots> slots;     ///< one entry per variable that was updated

    std::optional<LearningRate> learning_rate{};  ///< by set_learning_rate()
  };
  const Shared<State>& state() const { return state_; }

 protected:
  /// `kind` is the class name for errors: "Adam". Throws a ValueError for a negative number, more than one clip, more
  /// than one of split_master_weights, stochastic_rounding and kahan_summation, or a state_dtype that is neither
  /// float32 nor bfloat16.
  Optimizer(std::string kind, OptimizerCommon common);
  Optimizer(const Optimizer&) = default;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(const Optimizer&) = default;
  Optimizer& operator=(Optimizer&&) = default;

  /// Dtype of a variable's slots: float64 for float64, otherwise state_dtype.
  DType slot_dtype(const VariableState& variable) const;

  /// Slot `index` of a variable, created as zeros of the variable's shape and converted to `dtype`.
  std::shared_ptr<VariableState> slot(const std::shared_ptr<VariableState>& variable, std::size_t index,
                                      const std::string& name, DType dtype);

  /// Arguments of update() for an update op.
  struct Update {
    const Op* op = nullptr;  ///< ops::adam_update or ops::sgd_update
    Values numbers;          ///< inputs of the op after the slots, each float64 ()
    Attributes attributes;   ///< attributes of the op
  };

  /// Inserts the update op of a variable and its slots. Applies the storage options (split_master_weights,
  /// stochastic_rounding, kahan_summation, state_dtype).
  void update(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step, Update update);

  /// Factor of one gradient, float64 (): the step's multiplier, times the factor of clipnorm for the unscaled gradient.
  Value gradient_multiplier(const Value& gradient, const Step& step) const;

  /// Throws a ValueError with the text `[kind] text` unless `good`.
  void require(bool good, const std::string& text) const;

 private:
  std::string kind_;
  OptimizerCommon common_;
  Shared<State> state_{std::in_place};
};

}  // namespace mezzo
