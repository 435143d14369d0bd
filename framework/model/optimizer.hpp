#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/model/schedule.hpp>
#include <mezzo/precision/loss_scale.hpp>

namespace mezzo {

/// What all optimizers take, in Keras' words. At most one of the three clips may be set.
struct OptimizerCommon {
  LearningRate learning_rate = 1e-3;
  double weight_decay = 0;     ///< decoupled: w -= learning_rate * weight_decay * w
  double clipnorm = 0;         ///< each gradient is scaled down to this norm; 0: not
  double clipvalue = 0;        ///< each element is clipped to +- this; 0: not
  double global_clipnorm = 0;  ///< all gradients together are scaled down to this norm; 0: not
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
  };

  /// Inserts the update of one variable by its gradient: one node.
  virtual void apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) = 0;

  /// The slots of one variable.
  struct Slots {
    Shared<VariableState> variable;
    std::vector<Shared<VariableState>> values;
  };

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
  /// Throws a ValueError for a negative number or more than one clip.
  Optimizer(std::string kind, OptimizerCommon common);
  Optimizer(const Optimizer&) = default;
  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(const Optimizer&) = default;
  Optimizer& operator=(Optimizer&&) = default;

  /// Slot `index` of a variable: zeros of its shape, float32 (float64 for a float64 variable).
  std::shared_ptr<VariableState> slot(const std::shared_ptr<VariableState>& variable, std::size_t index,
                                      const std::string& name);

  /// Throws a ValueError that names the option unless `good`.
  void require(bool good, const std::string& text) const;

 private:
  std::string kind_;
  OptimizerCommon common_;
  Shared<State> state_{std::in_place};
};

}  // namespace mezzo
