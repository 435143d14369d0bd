#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/losses/hinge.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct HingeOptions {
  std::string name = "hinge";  ///< name in logs and histories
};

/// Mean of hinge as a metric.
class MEZZO_API Hinge : public Metric {
 public:
  explicit Hinge(const HingeOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return hinge(y_true, y_pred); }
};

struct SquaredHingeOptions {
  std::string name = "squared_hinge";  ///< name in logs and histories
};

/// Mean of squared_hinge as a metric.
class MEZZO_API SquaredHinge : public Metric {
 public:
  explicit SquaredHinge(const SquaredHingeOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return squared_hinge(y_true, y_pred); }
};

struct CategoricalHingeOptions {
  std::string name = "categorical_hinge";  ///< name in logs and histories
};

/// Mean of categorical_hinge as a metric.
class MEZZO_API CategoricalHinge : public Metric {
 public:
  explicit CategoricalHinge(const CategoricalHingeOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return categorical_hinge(y_true, y_pred); }
};

}  // namespace mezzo::metrics
