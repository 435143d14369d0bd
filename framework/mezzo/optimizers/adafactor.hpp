#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct AdafactorOptions {
  detail::LearningRate learning_rate =
      detail::LearningRate::preset(0.001);  ///< at least 0; a number, a Schedule or a function
  double beta_2_decay = -0.8;               ///< decay of the second moment at update t is 1 - t^beta_2_decay; below 0
  double epsilon_1 = 1e-30;                 ///< added to squared gradients, at least 0
  double epsilon_2 = 1e-3;                  ///< smallest scale of a variable, at least 0
  double clip_threshold = 1;                ///< largest root mean square of an update before its scale, above 0
  bool relative_step = true;                ///< true: the rate of update t is at most 1 / sqrt(t)
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
  std::vector<ParameterGroup> groups{};          ///< variables with a learning rate or weight decay of their own
};

/// Adafactor (Shazeer and Stern, 2018), as in Keras. For variables with two axes or more only the means of squared
/// gradients over rows and over columns are kept, so that states need little memory. Update t, counted from 1, of
/// weights w with gradient g:
///
///     b = 1 - t^beta_2_decay
///     r = b r + (1 - b) mean(g^2 + epsilon_1, last axis),  c = b c + (1 - b) mean(g^2 + epsilon_1, last axis but one)
///     v = r c / mean(r, last axis)           or, with fewer axes,  v = b v + (1 - b) (g^2 + epsilon_1)
///     u = g / sqrt(v)
///     w -= max(epsilon_2, rms(w)) min(learning_rate, 1 / sqrt(t)) u / max(1, rms(u) / clip_threshold)
///
/// Without relative_step the rate is learning_rate, as Keras documents; its code takes the minimum in both cases.
class MEZZO_API Adafactor : public Optimizer {
 public:
  /// A ValueError for a number out of its range, or options that exclude each other.
  explicit Adafactor(const AdafactorOptions& options = {});
  /// The same with a learning rate; a ValueError if the options have one, too.
  explicit Adafactor(const detail::LearningRate& learning_rate, const AdafactorOptions& options = {})
      : Adafactor(detail::with_learning_rate("Adafactor", learning_rate, options)) {}
  void update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                   const Step& step) override;
  std::vector<std::string> slot_names() const override { return {"row", "column", "velocity"}; }
  Squares squares() const override { return Squares::sums; }
  Shape slot_shape(const std::string& slot, const Shape& variable) const override;
  bool needs_slot(const std::string& slot, const Shape& variable) const override;

 private:
  AdafactorOptions options_;
};

}  // namespace mezzo
