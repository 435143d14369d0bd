#pragma once
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set; 0 means none. The last four are OptimizerCommon's.
struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  double weight_decay = 0;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
  bool split_master_weights = false;
  bool stochastic_rounding = false;
  bool kahan_summation = false;
  DType state_dtype = DType::float32;
};

/// Adam (Kingma and Ba, 2014) with epsilon in Keras' place, for update t, from 1: m += (g - m) (1 - beta_1);
/// v += (g^2 - v) (1 - beta_2); w -= learning_rate sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon).
/// Weights decay first: w -= learning_rate * weight_decay * w.
class Adam : public Optimizer {
 public:
  /// A ValueError for a beta outside [0, 1), or an epsilon below 0.
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
