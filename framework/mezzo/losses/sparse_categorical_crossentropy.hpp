#pragma once
#include <mezzo/nn/loss.hpp>

namespace mezzo {

/// `from_logits`: whether predictions are logits, of which a softmax is taken, or probabilities.
struct CrossentropyOptions {
  bool from_logits = false;
};

/// -log of the probability that y_pred (..., classes) gives to the right class y_true (...) or (..., 1), the mean of
/// each sample, in at least float32. Probabilities are scaled to sum to 1 and clipped to [1e-7, 1 - 1e-7], as in
/// Keras. A label outside of [0, classes) is a ValueError when the step runs.
Value sparse_categorical_crossentropy(const Value& y_true, const Value& y_pred,
                                      const CrossentropyOptions& options = {});

namespace losses {

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::string name = "sparse_categorical_crossentropy";
};

/// sparse_categorical_crossentropy as a loss.
class SparseCategoricalCrossentropy : public Loss {
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
