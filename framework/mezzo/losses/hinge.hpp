#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

/// Mean of max(1 - y_true y_pred, 0) over the last axis: (batch, ..., n) to (batch, ...). y_true holds -1 and 1; if all
/// are 0 or 1, 0 stands for -1. In at least float32.
MEZZO_API Value hinge(const Value& y_true, const Value& y_pred);

/// Mean of max(1 - y_true y_pred, 0)^2 over the last axis: (batch, ..., n) to (batch, ...). y_true holds -1 and 1; if
/// all are 0 or 1, 0 stands for -1. In at least float32.
MEZZO_API Value squared_hinge(const Value& y_true, const Value& y_pred);

/// max(1 + neg - pos, 0) with pos = sum(y_true y_pred) and neg = max((1 - y_true) y_pred) over the last axis, the
/// classes: (batch, ..., classes) to (batch, ...). y_true holds 0 and 1. In at least float32.
MEZZO_API Value categorical_hinge(const Value& y_true, const Value& y_pred);

namespace losses {

struct HingeOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "hinge";                     ///< name in logs and histories
};

/// hinge as a loss.
class MEZZO_API Hinge : public Loss {
 public:
  explicit Hinge(const HingeOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return hinge(y_true, y_pred); }
};

struct SquaredHingeOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "squared_hinge";             ///< name in logs and histories
};

/// squared_hinge as a loss.
class MEZZO_API SquaredHinge : public Loss {
 public:
  explicit SquaredHinge(const SquaredHingeOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return squared_hinge(y_true, y_pred); }
};

struct CategoricalHingeOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "categorical_hinge";         ///< name in logs and histories
};

/// categorical_hinge as a loss.
class MEZZO_API CategoricalHinge : public Loss {
 public:
  explicit CategoricalHinge(const CategoricalHingeOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return categorical_hinge(y_true, y_pred); }
};

}  // namespace losses

using losses::CategoricalHinge;
using losses::Hinge;
using losses::SquaredHinge;

}  // namespace mezzo
