#pragma once
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set; 0 means none. The last four are OptimizerCommon's.
struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  double clipnorm = 0;
  double clipvalue = 0;
  double global_clipnorm = 0;
  bool split_master_weights = false;
  bool stochastic_rounding = false;
  bool kahan_summation = false;
  DType state_dtype = DType::float32;
};

/// Stochastic gradient descent, as Keras: w -= learning_rate * g; with momentum v = momentum * v - learning_rate * g
/// and w += v, or with nesterov w += momentum * v - learning_rate * g (Sutskever et al., 2013). Weights decay first:
/// w -= learning_rate * weight_decay * w.
class SGD : public Optimizer {
 public:
  /// A ValueError for a momentum outside [0, 1], or nesterov without momentum.
  explicit SGD(const SGDOptions& options = {});
  void apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) override;
  /// "momentum", if there is one.
  std::vector<std::string> slot_names() const override;

 private:
  double momentum_;
  bool nesterov_;
};

}  // namespace mezzo
