#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/optimizers/adam.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct AdamWOptions {
  LearningRate learning_rate = 0.001;  ///< a number of at least 0, or a Schedule
  double weight_decay = 0.004;         ///< decoupled, at least 0: w -= learning_rate * weight_decay * w
  double beta_1 = 0.9;                 ///< decay of the first moment, in [0, 1)
  double beta_2 = 0.999;               ///< decay of the second moment, in [0, 1)
  double epsilon = 1e-7;               ///< added to the root of the second moment, at least 0
  double clipnorm = 0;                 ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;                ///< clips each gradient element to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;          ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  bool split_master_weights = false;   ///< float32 weights as bfloat16 and a remainder, see OptimizerCommon
  bool stochastic_rounding = false;    ///< rounds bfloat16 weights at random, see OptimizerCommon
  bool kahan_summation = false;        ///< keeps the rounding error of 16-bit weights, see OptimizerCommon
  DType state_dtype = DType::float32;  ///< dtype of both moments, float32 or bfloat16
};

/// Adam with a default of 0.004 for the decoupled weight decay (Loshchilov and Hutter, 2017).
class MEZZO_API AdamW : public Adam {
 public:
  /// A ValueError as by Adam.
  explicit AdamW(const AdamWOptions& options = {});
};

}  // namespace mezzo
