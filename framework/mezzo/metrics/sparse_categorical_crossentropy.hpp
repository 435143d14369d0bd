#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct SparseCategoricalCrossentropyOptions {
  std::string name = "sparse_categorical_crossentropy";  ///< name in logs and histories
  bool from_logits = false;  ///< true: y_pred holds logits, to which a softmax is applied; false: probabilities
  std::optional<std::int64_t> ignore_class{};  ///< label of elements whose value is 0
  std::int64_t axis = -1;                      ///< axis of the classes
};

/// sparse_categorical_crossentropy as a metric. losses::SparseCategoricalCrossentropy is the loss.
class MEZZO_API SparseCategoricalCrossentropy : public Metric {
 public:
  explicit SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {})
      : Metric(options), options_{options.from_logits, options.ignore_class, options.axis} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return sparse_categorical_crossentropy(y_true, y_pred, options_);
  }

 private:
  CrossentropyOptions options_;
};

}  // namespace mezzo::metrics
