#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/losses/regression.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct BinaryCrossentropyOptions {
  std::string name = "binary_crossentropy";  ///< name in logs and histories
  bool from_logits = false;                  ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;                ///< moves targets towards the middle: 0 none, 1 all the way
};

/// Mean of binary_crossentropy as a metric.
class MEZZO_API BinaryCrossentropy : public Metric {
 public:
  explicit BinaryCrossentropy(const BinaryCrossentropyOptions& options = {})
      : Metric(options), from_logits_(options.from_logits), label_smoothing_(options.label_smoothing) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return binary_crossentropy(y_true, y_pred, {from_logits_, label_smoothing_});
  }

 private:
  bool from_logits_;
  double label_smoothing_;
};

struct CategoricalCrossentropyOptions {
  std::string name = "categorical_crossentropy";  ///< name in logs and histories
  bool from_logits = false;                       ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;                     ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;                         ///< axis of the classes
};

/// Mean of categorical_crossentropy as a metric.
class MEZZO_API CategoricalCrossentropy : public Metric {
 public:
  explicit CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {})
      : Metric(options),
        from_logits_(options.from_logits),
        label_smoothing_(options.label_smoothing),
        axis_(options.axis) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return categorical_crossentropy(y_true, y_pred, {from_logits_, label_smoothing_, axis_});
  }

 private:
  bool from_logits_;
  double label_smoothing_;
  std::int64_t axis_;
};

struct KLDivergenceOptions {
  std::string name = "kl_divergence";  ///< name in logs and histories
};

/// Mean of kl_divergence as a metric.
class MEZZO_API KLDivergence : public Metric {
 public:
  explicit KLDivergence(const KLDivergenceOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return kl_divergence(y_true, y_pred); }
};

struct PoissonOptions {
  std::string name = "poisson";  ///< name in logs and histories
};

/// Mean of poisson as a metric.
class MEZZO_API Poisson : public Metric {
 public:
  explicit Poisson(const PoissonOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return poisson(y_true, y_pred); }
};

}  // namespace mezzo::metrics
