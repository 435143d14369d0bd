#include <mezzo/losses/sparse_categorical_crossentropy.hpp>

#include <mezzo/losses/targets.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value sparse_categorical_crossentropy(const Value& y_true, const Value& y_pred, const CrossentropyOptions& options) {
  const Targets targets = class_labels("sparse_categorical_crossentropy", y_true, y_pred);
  return per_sample(sparse_crossentropy(targets.y_true, targets.y_pred, options.from_logits));
}

}  // namespace mezzo
