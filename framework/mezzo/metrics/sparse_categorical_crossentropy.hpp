#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct SparseCategoricalCrossentropyOptions {
  std::string name = "sparse_categorical_crossentropy";  ///< name in logs and histories
  bool from_logits = false;  ///< true: y_pred holds logits, to which a softmax is applied; false: probabilities
};

/// sparse_categorical_crossentropy as a metric. losses::SparseCategoricalCrossentropy is the loss.
class MEZZO_API SparseCategoricalCrossentropy : public Metric {
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
