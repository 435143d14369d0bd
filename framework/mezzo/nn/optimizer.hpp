#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/nn/schedule.hpp>
#include <mezzo/precision/loss_scale.hpp>

namespace mezzo {

/// What all optimizers take, in Keras' words. At most one of the three clips may be set, and at most one of the ways of
/// keeping variables, each of which acts on the variables it names and leaves the others as they are.
struct OptimizerCommon {
  LearningRate learning_rate = 1e-3;
  double weight_decay = 0;     ///< decoupled: w -= learning_rate * weight_decay * w
  double clipnorm = 0;         ///< each gradient is scaled down to this norm; 0: not
  double clipvalue = 0;        ///< each element is clipped to +- this; 0: not
  double global_clipnorm = 0;  ///< all gradients together are scaled down to this norm; 0: not
  /// Keeps float32 variables that are computed with in bfloat16 as that bfloat16 and a 16-bit remainder, which is exact
  /// (IPEX): 4 bytes instead of 6.
  bool split_master_weights = false;
  /// Rounds new bfloat16 variables up or down at random, to what they are on average. The same for a seed, step, path
  /// and place in the variable, on any machine and number of threads.
  bool stochastic_rounding = false;
  /// Keeps what rounding takes from bfloat16 and float16 variables, in their dtype, for the next step (Kahan, 1965).
  bool kahan_summation = false;
  /// Of moments and momentum: float32, or bfloat16, rounded stochastically. Those of float64 variables are float64.
  DType state_dtype = DType::float32;
};

/// Base of optimizers. Holds its slots (moments, momentum) and counters; copies share them.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates made; a skipped step isn't one.
  std::int64_t iterations() const { return state_->iterations; }

  /// The rate of the next update.
  double learning_rate() const { return common_.learning_rate.at(state_->iterations); }

  const OptimizerCommon& common() const { return common_; }

  /// The optimizer of that Keras name ("adam", "adamw", "sgd") with defaults; a NameError that lists the good ones
  /// otherwise.
  static Any<Optimizer> from_name(const std::string& name);

  /// What apply() computes with: numbers that change from step to step.
  struct Step {
    Value learning_rate;  ///< float64 ()
    Value count;          ///< float64 (): of this update, from 1
    Value multiplier;     ///< float64 (): what to multiply gradients by (unscaling, clipping by norm)
    std::string path{};   ///< of the variable, which tells its random numbers from others'; "": its name
  };

  /// Inserts the update of one variable by its gradient: one node.
  virtual void apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) = 0;

  /// What apply() calls a variable's slots, in their order. Checkpoints know a slot by its name.
  virtual std::vector<std::string> slot_names() const { return {}; }

  /// A ValueError for an option about how variables or states are kept that acts on none of these, or can't act.
  void require_effect(const std::vector<std::shared_ptr<VariableState>>& variables) const;

  /// The slots of one variable.
  struct Slots {
    Shared<VariableState> variable;
    std::vector<Shared<VariableState>> values;
  };

  /// The slot in which kahan_summation keeps what rounding took from a variable, after those of slot_names().
  static constexpr const char* compensation_name = "compensation";

  /// Whether such a variable has one.
  bool compensates(const VariableState& variable) const;

  /// What copies share.
  struct State {
    struct Blank {};
    State() = default;
    explicit State(Blank) {}
    void copy_from(const State& other) { *this = other; }

    std::int64_t iterations = 0;
    LossScale loss_scale;
    std::vector<Slots> slots;
  };
  const Shared<State>& state() const { return state_; }

 protected:
  /// Throws a ValueError for a negative number, more than one clip, more than one way of keeping variables, or a
  /// state_dtype that is neither float32 nor bfloat16.
  Optimizer(std::string kind, OptimizerCommon common);
  Optimizer(const Optimizer&) = default;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(const Optimizer&) = default;
  Optimizer& operator=(Optimizer&&) = default;

  /// The dtype of a variable's slots: float64 for float64, otherwise state_dtype.
  DType slot_dtype(const VariableState& variable) const;

  /// Slot `index` of a variable: zeros of its shape and of this dtype.
  std::shared_ptr<VariableState> slot(const std::shared_ptr<VariableState>& variable, std::size_t index,
                                      const std::string& name, DType dtype);

  /// What update() says to an update op.
  struct Update {
    const Op* op = nullptr;
    Values numbers;  ///< float64 (), as the op has them after the slots
    Attributes attributes;
  };

  /// Inserts the update op of a variable and its slots, those of slot_names(), kept as the options say. Without it
  /// apply() heeds none of them.
  void update(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step, Update update);

  /// Throws a ValueError that names the option unless `good`.
  void require(bool good, const std::string& text) const;

 private:
  std::string kind_;
  OptimizerCommon common_;
  Shared<State> state_{std::in_place};
};

}  // namespace mezzo
