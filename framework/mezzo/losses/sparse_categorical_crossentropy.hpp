#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

struct CrossentropyOptions {
  bool from_logits = false;  ///< true: y_pred holds logits, to which a softmax is applied; false: probabilities
  std::optional<std::int64_t> ignore_class{};  ///< label of elements that don't count: their value is 0
  std::int64_t axis = -1;                      ///< axis of the classes
};

/// -log of the probability of the right class, in at least float32: labels y_true (batch, ...) or (batch, ..., 1) and
/// predictions y_pred (batch, ..., classes) to (batch, ...). Probabilities are scaled to sum to 1
/// and clipped to [1e-7, 1 - 1e-7], as in Keras. A label outside of [0, classes) is a ValueError when the step runs.
MEZZO_API Value sparse_categorical_crossentropy(const Value& y_true, const Value& y_pred,
                                                const CrossentropyOptions& options = {});

namespace losses {

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;  ///< true: y_pred holds logits, to which a softmax is applied; false: probabilities
  std::optional<std::int64_t> ignore_class{};            ///< label of elements that don't count, not in means either
  std::string reduction = "sum_over_batch_size";         ///< how the values become one number; see Loss
  std::int64_t axis = -1;                                ///< axis of the classes
  std::string name = "sparse_categorical_crossentropy";  ///< name in logs and histories
};

/// sparse_categorical_crossentropy as a loss.
class MEZZO_API SparseCategoricalCrossentropy : public Loss {
 public:
  explicit SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {})
      : Loss(options), options_{options.from_logits, options.ignore_class, options.axis} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return sparse_categorical_crossentropy(y_true, y_pred, options_);
  }
  Value mask(const Value& y_true, const Value& values) const override;

 private:
  CrossentropyOptions options_;
};

}  // namespace losses

using losses::SparseCategoricalCrossentropy;

}  // namespace mezzo
