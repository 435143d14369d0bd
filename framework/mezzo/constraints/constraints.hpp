#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/constraint.hpp>
#include <mezzo/nn/positional.hpp>

namespace mezzo {

struct MinMaxNormOptions {
  double min_value = 0;   ///< least norm, at least 0
  double max_value = 1;   ///< greatest norm, at least min_value
  double rate = 1;        ///< share of the way to the nearest norm in [min_value, max_value], in [0, 1]
  detail::Ints axis = 0;  ///< axes over which a norm is taken: 0 for Dense, {0, 1, 2} for the filters of Conv2D
};

/// Scales vectors of weights so that their L2 norm lies in an interval: w (desired / (1e-7 + norm)), with desired =
/// rate clip(norm, min_value, max_value) + (1 - rate) norm.
class MEZZO_API MinMaxNorm : public Constraint {
 public:
  /// A ValueError for a number out of range.
  explicit MinMaxNorm(MinMaxNormOptions options = {});
  MinMaxNorm(double min_value, double max_value, double rate = 1, detail::Ints axis = 0)
      : MinMaxNorm(MinMaxNormOptions{min_value, max_value, rate, std::move(axis)}) {}
  Value call(const Value& weight) const override;

  /// Returns the options given to the constructor.
  const MinMaxNormOptions& options() const { return options_; }

 private:
  MinMaxNormOptions options_;
};

struct MaxNormOptions {
  double max_value = 2;   ///< greatest norm, at least 0
  detail::Ints axis = 0;  ///< axes over which a norm is taken: 0 for Dense, {0, 1, 2} for the filters of Conv2D
};

/// Scales vectors of weights whose L2 norm is above max_value down to it (Srivastava et al., 2014).
class MEZZO_API MaxNorm : public Constraint {
 public:
  /// A ValueError for a negative max_value.
  explicit MaxNorm(MaxNormOptions options = {});
  explicit MaxNorm(double max_value, detail::Ints axis = 0) : MaxNorm(MaxNormOptions{max_value, std::move(axis)}) {}
  Value call(const Value& weight) const override;

  /// Returns the options given to the constructor.
  const MaxNormOptions& options() const { return options_; }

 private:
  MaxNormOptions options_;
};

struct UnitNormOptions {
  detail::Ints axis = 0;  ///< axes over which a norm is taken: 0 for Dense, {0, 1, 2} for the filters of Conv2D
};

/// Scales vectors of weights to the L2 norm 1: w / (1e-7 + norm).
class MEZZO_API UnitNorm : public Constraint {
 public:
  explicit UnitNorm(UnitNormOptions options = {}) : options_(std::move(options)) {}

  /// Positional: the axes along which the norm is computed. Default: 0, the input axis of a Dense kernel.
  template <class I, detail::IfInteger<I> = 0>
  explicit UnitNorm(I axis) : options_{axis} {}
  Value call(const Value& weight) const override;

  /// Returns the options given to the constructor.
  const UnitNormOptions& options() const { return options_; }

 private:
  UnitNormOptions options_;
};

/// Sets negative weights to 0.
class MEZZO_API NonNeg : public Constraint {
 public:
  Value call(const Value& weight) const override;
};

namespace constraints {
using max_norm = MaxNorm;
using min_max_norm = MinMaxNorm;
using non_neg = NonNeg;
using unit_norm = UnitNorm;
}  // namespace constraints

}  // namespace mezzo
