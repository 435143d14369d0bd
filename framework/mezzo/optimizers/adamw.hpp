#pragma once
#include <mezzo/optimizers/adam.hpp>

namespace mezzo {

/// At most one of the three clips may be set; 0 means none. The last four are OptimizerCommon's.
struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  double weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
  bool split_master_weights = false;
  bool stochastic_rounding = false;
  bool kahan_summation = false;
  DType state_dtype = DType::float32;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2017) by default.
class AdamW : public Adam {
 public:
  explicit AdamW(const AdamWOptions& options = {});
};

}  // namespace mezzo
