#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct AdamOptions {
  detail::LearningRate learning_rate =
      detail::LearningRate::preset(0.001);  ///< at least 0; a number, a Schedule or a function
  double beta_1 = 0.9;                      ///< decay of the first moment, in [0, 1)
  double beta_2 = 0.999;                    ///< decay of the second moment, in [0, 1)
  double epsilon = 1e-7;                    ///< added to the denominator, at least 0
  bool amsgrad = false;                     ///< uses the largest second moment so far (Reddi et al., 2018)
  double weight_decay = 0;                  ///< decoupled, at least 0: w -= learning_rate * weight_decay * w
  double clipnorm = 0;                      ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;                     ///< clips each gradient element to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;               ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  bool use_ema = false;                     ///< keeps averages of the weights, see OptimizerCommon
  double ema_momentum = 0.99;               ///< weight of the old average, in [0, 1]
  std::int64_t ema_overwrite_frequency = 0;      ///< updates after which averages replace the weights; 0: never
  std::int64_t gradient_accumulation_steps = 0;  ///< steps per update, at least 2; 0: every step updates
  std::string name{};                            ///< name in errors; "": the class name
  bool split_master_weights = false;             ///< float32 weights as bfloat16 and a remainder, see OptimizerCommon
  bool stochastic_rounding = false;              ///< rounds bfloat16 weights at random, see OptimizerCommon
  bool kahan_summation = false;                  ///< keeps the rounding error of 16-bit weights, see OptimizerCommon
  StateDType state_dtype = DType::float32;       ///< dtype of the slots: float32, bfloat16 or int8
  std::vector<ParameterGroup> groups{};          ///< variables with a learning rate or weight decay of their own
};

/// Adam (Kingma and Ba, 2014) with epsilon where Keras adds it. Update t, counted from 1, of weight w with gradient g:
///
///     w -= learning_rate * weight_decay * w
///     m += (g - m) (1 - beta_1)
///     v += (g^2 - v) (1 - beta_2)
///     w -= learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon)
///
/// With amsgrad, the last line has the largest v of all updates so far.
class MEZZO_API Adam : public Optimizer {
 public:
  /// A ValueError for a number out of its range, or options that exclude each other.
  explicit Adam(const AdamOptions& options = {});
  /// The same with a learning rate; a ValueError if the options have one, too.
  explicit Adam(const detail::LearningRate& learning_rate, const AdamOptions& options = {})
      : Adam(detail::with_learning_rate("Adam", learning_rate, options)) {}
  void update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                   const Step& step) override;
  /// {"momentum", "velocity"}, with amsgrad also "velocity_hat".
  std::vector<std::string> slot_names() const override;
  Squares squares() const override { return Squares::averages; }

 protected:
  /// Numbers of the rule.
  struct Rule {
    double beta_1, beta_2, epsilon;  ///< decay rates of the moments, in [0, 1); number added to the root
    bool amsgrad;                    ///< true: divides by the largest second moment so far
  };

  /// For derived optimizers. A ValueError for a number out of its range.
  Adam(std::string kind, OptimizerCommon common, const Rule& rule);

 private:
  Rule rule_;
};

}  // namespace mezzo
