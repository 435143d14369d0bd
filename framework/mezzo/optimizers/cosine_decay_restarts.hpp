#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

struct CosineDecayRestartsOptions {
  double initial_learning_rate = 0;    ///< rate of the first update
  std::int64_t first_decay_steps = 0;  ///< required; updates of the first decay, at least 1
  double t_mul = 2;                    ///< factor of the length from one decay to the next, at least 1
  double m_mul = 1;                    ///< factor of the first rate from one decay to the next, at least 0
  double alpha = 0;                    ///< smallest rate as a fraction of initial_learning_rate
};

/// Cosine decays that start again (Loshchilov and Hutter, 2016). Formula at the fraction f of restart i:
/// initial_learning_rate * ((1 - alpha) m_mul^i (1 + cos(pi f)) / 2 + alpha).
class MEZZO_API CosineDecayRestarts : public Schedule {
 public:
  /// A ValueError for first_decay_steps below 1, t_mul below 1 or a negative m_mul.
  explicit CosineDecayRestarts(CosineDecayRestartsOptions options = {});
  /// The same with positional arguments.
  CosineDecayRestarts(double initial_learning_rate, std::int64_t first_decay_steps, double t_mul = 2, double m_mul = 1,
                      double alpha = 0)
      : CosineDecayRestarts(CosineDecayRestartsOptions{initial_learning_rate, first_decay_steps, t_mul, m_mul, alpha}) {
  }
  double operator()(std::int64_t step) const override;

  /// Returns the options given to the constructor.
  const CosineDecayRestartsOptions& options() const { return options_; }

 private:
  CosineDecayRestartsOptions options_;
};

}  // namespace mezzo
