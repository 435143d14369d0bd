#include <mezzo/training/model/class_targets.hpp>

#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>

namespace mezzo::detail {
namespace {

bool takes_labels_alone(const Any<Loss>& loss) {
  if (!loss) return false;
  const Loss* const held = &*loss;
  return dynamic_cast<const losses::SparseCategoricalCrossentropy*>(held) != nullptr ||
         dynamic_cast<const losses::CategoricalGeneralizedCrossEntropy*>(held) != nullptr;
}

}  // namespace

ClassTargets class_targets(const CompileOptions& options) {
  bool labels = false;
  for (const Any<Loss>& loss : options.loss.list) labels = labels || takes_labels_alone(loss);
  for (const auto& named : options.loss.named) labels = labels || takes_labels_alone(named.second);
  return labels ? ClassTargets::labels : ClassTargets::either;
}

Value chosen_class_weights(const Value& of_labels, const Value& of_scores, const Value& y_true, const Value& y_pred) {
  const Shape &t = y_true.shape(), &p = y_pred.shape();
  const bool column = t.size() == p.size() && !t.empty() && t.back() == 1 && p.back() != 1;
  return column || p.size() == t.size() + 1 ? of_labels : of_scores;
}

}  // namespace mezzo::detail
