#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// At most one of the three clips may be set, and at most one of split_master_weights, stochastic_rounding and
/// kahan_summation.
struct MuonOptions {
  detail::LearningRate learning_rate =
      detail::LearningRate::preset(0.001);  ///< at least 0; a number, a Schedule or a function
  double adam_beta_1 = 0.9;                 ///< decay of a moment of Adam, in [0, 1)
  double adam_beta_2 = 0.999;               ///< decay of a moment of Adam, in [0, 1)
  double adam_weight_decay = 0.004;         ///< weight decay of variables that Adam updates, at least 0
  double epsilon = 1e-7;                    ///< epsilon of Adam, at least 0
  double weight_decay = 0.004;              ///< decoupled, at least 0: w -= learning_rate * weight_decay * w
  double clipnorm = 0;                      ///< scales each gradient down to at most this L2 norm; 0: no clipping
  double clipvalue = 0;                     ///< clips each gradient element to [-clipvalue, clipvalue]; 0: no clipping
  double global_clipnorm = 0;               ///< scales all gradients down to at most this joint L2 norm; 0: no clipping
  bool use_ema = false;                     ///< keeps averages of the weights, see OptimizerCommon
  double ema_momentum = 0.99;               ///< weight of the old average, in [0, 1]
  std::int64_t ema_overwrite_frequency = 0;      ///< updates after which averages replace the weights; 0: never
  std::int64_t gradient_accumulation_steps = 0;  ///< steps per update, at least 2; 0: every step updates
  std::string name{};                            ///< name in errors; "": the class name
  std::vector<std::string> exclude_layers{};  ///< Adam updates variables in whose path one of these patterns is found
  bool exclude_embeddings = true;             ///< Adam updates variables whose path contains "embedding"
  double muon_a = 3.4445;                     ///< coefficient of x in the iteration
  double muon_b = -4.775;                     ///< coefficient of x x^T x
  double muon_c = 2.0315;                     ///< coefficient of x x^T x x^T x
  double adam_lr_ratio = 1;                   ///< factor of Adam's learning rate, above 0
  double momentum = 0.95;                     ///< weight of the old momentum, in [0, 1)
  std::int64_t ns_steps = 5;                  ///< iterations, at least 1
  bool nesterov = true;                       ///< Nesterov momentum
  std::optional<double> rms_rate = 0.2;       ///< above 0: factor, with sqrt(the larger size); std::nullopt: neither
  bool split_master_weights = false;          ///< float32 weights as bfloat16 and a remainder, see OptimizerCommon
  bool stochastic_rounding = false;           ///< rounds bfloat16 weights at random, see OptimizerCommon
  bool kahan_summation = false;               ///< keeps the rounding error of 16-bit weights, see OptimizerCommon
  std::vector<ParameterGroup> groups{};       ///< variables with a learning rate or weight decay of their own
};

/// Muon (Jordan, 2024), as in Keras: variables with two axes are updated by momentum m whose singular values the
/// Newton-Schulz iteration brings near 1, all others by Adam.
///
///     m = momentum m + g,  x = g + momentum m (nesterov) or m,  x /= norm(x) + 1e-7
///     a = x x^T,  x = muon_a x + (muon_b a + muon_c a a) x      ns_steps times, of x^T if rows > columns
///     w -= learning_rate rms_rate sqrt(max(rows, columns)) x
///
/// The iteration runs as matrix products of float32 (float64 for float64), the update in one pass with the storage.
class MEZZO_API Muon : public Optimizer {
 public:
  /// A ValueError for a number out of its range, or options that exclude each other.
  explicit Muon(const MuonOptions& options = {});
  /// The same with a learning rate; a ValueError if the options have one, too.
  explicit Muon(const detail::LearningRate& learning_rate, const MuonOptions& options = {})
      : Muon(detail::with_learning_rate("Muon", learning_rate, options)) {}
  void update_step(const std::shared_ptr<detail::VariableState>& variable, const Value& gradient,
                   const Step& step) override;
  std::vector<std::string> slot_names() const override { return {"momentum", "velocity"}; }
  Squares squares() const override { return Squares::averages; }
  bool needs_slot(const std::string& slot, const Shape& variable) const override;

 protected:
  double default_weight_decay(const detail::VariableState& variable, const std::string& path) const override;

 private:
  bool uses_adam(const Shape& variable, const std::string& path) const;
  Value orthogonalized(Value x) const;

  MuonOptions options_;
};

}  // namespace mezzo
