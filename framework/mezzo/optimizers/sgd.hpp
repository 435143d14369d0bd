#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct SGDOptions {
  LearningRate learning_rate = 0.01;   ///< a number of at least 0, or a Schedule
  double momentum = 0;                 ///< weight of the old velocity, in [0, 1]; 0: no velocity
  bool nesterov = false;               ///< true: Nesterov momentum, needs a momentum above 0
  double weight_decay = 0;             ///< decoupled, at least 0: w -= learning_rate * weight_decay * w
  double clipnorm = 0;                 ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;                ///< clips each gradient element to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;          ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  bool split_master_weights = false;   ///< float32 weights as bfloat16 and a remainder, see OptimizerCommon
  bool stochastic_rounding = false;    ///< rounds bfloat16 weights at random, see OptimizerCommon
  bool kahan_summation = false;        ///< keeps the rounding error of 16-bit weights, see OptimizerCommon
  DType state_dtype = DType::float32;  ///< dtype of the momentum, float32 or bfloat16
};

/// Stochastic gradient descent, as in Keras. Update of weight w with gradient g:
///
///     w -= learning_rate * weight_decay * w
///     w -= learning_rate * g                   without momentum
///     v = momentum * v - learning_rate * g     with momentum
///     w += v                                   with momentum, without nesterov
///     w += momentum * v - learning_rate * g    with nesterov (Sutskever et al., 2013)
class MEZZO_API SGD : public Optimizer {
 public:
  /// A ValueError for a momentum outside [0, 1], a negative number, options that exclude each other, or nesterov or a
  /// state_dtype of bfloat16 without momentum.
  explicit SGD(const SGDOptions& options = {});
  void apply(const std::shared_ptr<VariableState>& variable, const Value& gradient, const Step& step) override;
  /// {"momentum"} with momentum, else {}.
  std::vector<std::string> slot_names() const override;

 private:
  double momentum_;
  bool nesterov_;
};

}  // namespace mezzo
