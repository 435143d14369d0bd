#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct AdamOptions {
  LearningRate learning_rate = 0.001;  ///< a number of at least 0, or a Schedule
  double beta_1 = 0.9;                 ///< decay of the first moment, in [0, 1)
  double beta_2 = 0.999;               ///< decay of the second moment, in [0, 1)
  double epsilon = 1e-7;               ///< added to the root of the second moment, at least 0
  double weight_decay = 0;             ///< decoupled, at least 0: w -= learning_rate * weight_decay * w
  double clipnorm = 0;                 ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;                ///< clips each gradient element to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;          ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  bool split_master_weights = false;   ///< float32 weights as bfloat16 and a remainder, see OptimizerCommon
  bool stochastic_rounding = false;    ///< rounds bfloat16 weights at random, see OptimizerCommon
  bool kahan_summation = false;        ///< keeps the rounding error of 16-bit weights, see OptimizerCommon
  DType state_dtype = DType::float32;  ///< dtype of both moments, float32 or bfloat16
};

/// Adam (Kingma and Ba, 2014) with epsilon in Keras' place. Update t, counted from 1, of weight w with gradient g:
///
///     w -= learning_rate * weight_decay * w
///     m += (g - m) (1 - beta_1)
///     v += (g^2 - v) (1 - beta_2)
///     w -= learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon)
class MEZZO_API Adam : public Optimizer {
 public:
  /// A ValueError for a beta outside [0, 1), a negative number, or options that exclude each other.
  explicit Adam(const AdamOptions& options = {}) : Adam("Adam", options) {}
  void apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) override;
  std::vector<std::string> slot_names() const override { return {"momentum", "velocity"}; }

 protected:
  Adam(std::string kind, const AdamOptions& options);

 private:
  double beta_1_;
  double beta_2_;
  double epsilon_;
};

}  // namespace mezzo
