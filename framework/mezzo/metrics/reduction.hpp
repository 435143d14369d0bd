#pragma once
#include <functional>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct MeanOptions {
  std::string name = "mean";  ///< name in logs and histories
};

/// Weighted mean of numbers: `mean.update_state(values)`.
class MEZZO_API Mean : public Metric {
 public:
  explicit Mean(const MeanOptions& options = {}) : Metric(options) {}

  /// Adds the numbers of a batch, one per sample or more.
  void update_state(const Value& values, const Value& sample_weight = {});

 protected:
  void update(const Value& values, const Value& none, const Value& sample_weight) override;
};

struct SumOptions {
  std::string name = "sum";  ///< name in logs and histories
};

/// Weighted sum of numbers: `sum.update_state(values)`.
class MEZZO_API Sum : public Metric {
 public:
  explicit Sum(const SumOptions& options = {});

  /// Adds the numbers of a batch.
  void update_state(const Value& values, const Value& sample_weight = {});
  Value result() const override {
    check_not_moved();
    return total_;
  }

 protected:
  void update(const Value& values, const Value& none, const Value& sample_weight) override;

 private:
  Variable total_{"total"};
};

struct MeanMetricWrapperOptions {
  std::string name = "mean_metric_wrapper";  ///< name in logs and histories
};

/// Weighted mean of a function of y_true and y_pred that returns one number or more per sample.
class MEZZO_API MeanMetricWrapper : public Metric {
 public:
  /// Takes arrays of a batch, (batch, ...). Returns (batch, ...).
  using Function = std::function<Value(const Value& y_true, const Value& y_pred)>;

  /// A ValueError if the function is empty.
  explicit MeanMetricWrapper(Function function, MeanMetricWrapperOptions options = {});
  Value call(const Value& y_true, const Value& y_pred) const override {
    check_not_moved();
    return function_(y_true, y_pred);
  }

 private:
  Function function_;
};

}  // namespace mezzo::metrics

namespace mezzo {

using metrics::MeanMetricWrapper;

}  // namespace mezzo
