#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct FtrlOptions {
  detail::LearningRate learning_rate =
      detail::LearningRate::preset(0.001);          ///< at least 0; a number, a Schedule or a function
  double learning_rate_power = -0.5;                ///< at most 0; -0.5 has the fast kernel
  double initial_accumulator_value = 0.1;           ///< first value of the sums of squares, at least 0
  double l1_regularization_strength = 0;            ///< at least 0
  double l2_regularization_strength = 0;            ///< at least 0
  double l2_shrinkage_regularization_strength = 0;  ///< at least 0; acts on the gradient
  double beta = 0;                                  ///< at least 0; McMahan et al.'s beta
  double weight_decay = 0;                          ///< decoupled, at least 0: w -= learning_rate * weight_decay * w
  double clipnorm = 0;         ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;        ///< clips each gradient element to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;  ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  bool use_ema = false;        ///< keeps averages of the weights, see OptimizerCommon
  double ema_momentum = 0.99;  ///< weight of the old average, in [0, 1]
  std::int64_t ema_overwrite_frequency = 0;      ///< updates after which averages replace the weights; 0: never
  std::int64_t gradient_accumulation_steps = 0;  ///< steps per update, at least 2; 0: every step updates
  std::string name{};                            ///< name in errors; "": the class name
  bool split_master_weights = false;             ///< float32 weights as bfloat16 and a remainder, see OptimizerCommon
  bool stochastic_rounding = false;              ///< rounds bfloat16 weights at random, see OptimizerCommon
  bool kahan_summation = false;                  ///< keeps the rounding error of 16-bit weights, see OptimizerCommon
  StateDType state_dtype = DType::float32;       ///< dtype of the slots: float32 or bfloat16
  std::vector<ParameterGroup> groups{};          ///< variables with a learning rate or weight decay of their own
};

/// Follow the regularized leader (McMahan et al., 2013). Update of weight w with gradient g:
///
///     n = a + g^2,  p = -learning_rate_power,  l2' = l2 + beta / (2 learning_rate)
///     z += g + 2 l2_shrinkage w - (n^p - a^p) / learning_rate w
///     w = (clip(z, -l1, l1) - z) / (n^p / learning_rate + 2 l2'),  a = n
///
/// The learning rate must not become 0.
class MEZZO_API Ftrl : public Optimizer {
 public:
  /// A ValueError for a number out of its range, or options that exclude each other.
  explicit Ftrl(const FtrlOptions& options = {});
  /// The same with a learning rate; a ValueError if the options have one, too.
  explicit Ftrl(const detail::LearningRate& learning_rate, const FtrlOptions& options = {})
      : Ftrl(detail::with_learning_rate("Ftrl", learning_rate, options)) {}
  void update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                   const Step& step) override;
  std::vector<std::string> slot_names() const override { return {"accumulator", "linear"}; }
  Squares squares() const override { return Squares::sums; }
  Tensor initial_slot(const std::string& slot, const detail::VariableState& variable) const override;

 private:
  FtrlOptions options_;
};

}  // namespace mezzo
