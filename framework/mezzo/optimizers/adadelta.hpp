#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct AdadeltaOptions {
  detail::LearningRate learning_rate =
      detail::LearningRate::preset(0.001);  ///< at least 0; a number, a Schedule or a function
  double rho = 0.95;                        ///< decay of both averages, in [0, 1)
  double epsilon = 1e-7;                    ///< added to the denominator, at least 0
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

/// Adadelta (Zeiler, 2012). Update of weight w with gradient g:
///
///     a = rho a + (1 - rho) g^2
///     d = -sqrt(x + epsilon) / sqrt(a + epsilon) g
///     x = rho x + (1 - rho) d^2
///     w += learning_rate d
class MEZZO_API Adadelta : public Optimizer {
 public:
  /// A ValueError for a number out of its range, or options that exclude each other.
  explicit Adadelta(const AdadeltaOptions& options = {});
  /// The same with a learning rate; a ValueError if the options have one, too.
  explicit Adadelta(const detail::LearningRate& learning_rate, const AdadeltaOptions& options = {})
      : Adadelta(detail::with_learning_rate("Adadelta", learning_rate, options)) {}
  void update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                   const Step& step) override;
  std::vector<std::string> slot_names() const override { return {"accumulated_grad", "accumulated_delta_var"}; }
  Squares squares() const override { return Squares::averages; }

 private:
  AdadeltaOptions options_;
};

}  // namespace mezzo
