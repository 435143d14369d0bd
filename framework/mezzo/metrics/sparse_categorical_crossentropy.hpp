#pragma once
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct SparseCategoricalCrossentropyOptions {
  std::string name = "sparse_categorical_crossentropy";
  bool from_logits = false;
};

/// sparse_categorical_crossentropy as a metric: the twin of the loss.
class SparseCategoricalCrossentropy : public Metric {
 public:
  explicit SparseCategoricalCrossentropy(SparseCategoricalCrossentropyOptions options = {})
      : Metric(std::move(options.name)), options_{options.from_logits} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return sparse_categorical_crossentropy(y_true, y_pred, options_);
  }

 private:
  CrossentropyOptions options_;
};

}  // namespace mezzo::metrics
