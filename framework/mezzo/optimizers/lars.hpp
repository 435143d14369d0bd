#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct LARSOptions {
  detail::LearningRate learning_rate =
      detail::LearningRate::preset(0.01);  ///< at least 0; a number, a Schedule or a function
  double momentum = 0.9;                   ///< weight of the old velocity, in [0, 1]; 0: no velocity
  double weight_decay = 0;                 ///< at least 0; times w, added to the gradient
  double clipnorm = 0;                     ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;                    ///< clips each gradient element to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;              ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  bool use_ema = false;                    ///< keeps averages of the weights, see OptimizerCommon
  double ema_momentum = 0.99;              ///< weight of the old average, in [0, 1]
  std::int64_t ema_overwrite_frequency = 0;      ///< updates after which averages replace the weights; 0: never
  std::int64_t gradient_accumulation_steps = 0;  ///< steps per update, at least 2; 0: every step updates
  std::string name{};                            ///< name in errors; "": the class name
  double trust_coefficient = 0.001;              ///< factor of the ratio of norms, above 0
  double epsilon = 1e-8;                         ///< added to the denominator of the ratio, at least 0
  bool nesterov = false;                         ///< true: Nesterov momentum, needs a momentum above 0
  bool always_adapt = false;                     ///< true: also adapts variables without weight decay
  bool split_master_weights = false;             ///< float32 weights as bfloat16 and a remainder, see OptimizerCommon
  bool stochastic_rounding = false;              ///< rounds bfloat16 weights at random, see OptimizerCommon
  bool kahan_summation = false;                  ///< keeps the rounding error of 16-bit weights, see OptimizerCommon
  StateDType state_dtype = DType::float32;       ///< dtype of the slots: float32, bfloat16 or int8
  std::vector<ParameterGroup> groups{};          ///< variables with a learning rate or weight decay of their own
};

/// Layer-wise adaptive rate scaling (You et al., 2017), in the form of the timm library. Keras has no such optimizer.
/// Update of weights w with gradient g:
///
///     r = trust_coefficient norm(w) / (norm(g) + weight_decay norm(w) + epsilon)
///     v = momentum v + r (g + weight_decay w)
///     w -= learning_rate v, or learning_rate (r (g + weight_decay w) + momentum v) with nesterov
///
/// The weight decay is a part of the gradient here. r is 1 if a norm is 0, and for variables without weight decay
/// (exclude biases by exclude_from_weight_decay()) unless always_adapt.
class MEZZO_API LARS : public Optimizer {
 public:
  /// A ValueError for a number out of its range, or options that exclude each other.
  explicit LARS(const LARSOptions& options = {});
  /// The same with a learning rate; a ValueError if the options have one, too.
  explicit LARS(const detail::LearningRate& learning_rate, const LARSOptions& options = {})
      : LARS(detail::with_learning_rate("LARS", learning_rate, options)) {}
  void update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                   const Step& step) override;
  /// {"momentum"} with momentum, else {}.
  std::vector<std::string> slot_names() const override;

 private:
  LARSOptions options_;
};

}  // namespace mezzo
