#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

struct CrossentropyOptions {
  bool from_logits = false;  ///< true: y_pred holds logits, to which a softmax is applied; false: probabilities
};

/// -log of the probability of the right class, mean over each sample, in at least float32: labels y_true (batch, ...)
/// or (batch, ..., 1) and predictions y_pred (batch, ..., classes) to (batch,). Probabilities are scaled to sum to 1
/// and clipped to [1e-7, 1 - 1e-7], as in Keras. A label outside of [0, classes) is a ValueError when the step runs.
MEZZO_API Value sparse_categorical_crossentropy(const Value& y_true, const Value& y_pred,
                                                const CrossentropyOptions& options = {});

namespace losses {

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;  ///< true: y_pred holds logits, to which a softmax is applied; false: probabilities
  std::string name = "sparse_categorical_crossentropy";  ///< name in logs and histories
};

/// sparse_categorical_crossentropy as a loss.
class MEZZO_API SparseCategoricalCrossentropy : public Loss {
 public:
  explicit SparseCategoricalCrossentropy(SparseCategoricalCrossentropyOptions options = {})
      : Loss(std::move(options.name)), options_{options.from_logits} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return sparse_categorical_crossentropy(y_true, y_pred, options_);
  }

 private:
  CrossentropyOptions options_;
};

}  // namespace losses

using losses::SparseCategoricalCrossentropy;

}  // namespace mezzo
