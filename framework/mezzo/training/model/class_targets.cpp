#include <mezzo/training/model/class_targets.hpp>

#include <mezzo/core/fail.hpp>
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

/// True for losses of targets that are 0 or 1.
bool is_binary(const Any<Loss>& loss) {
  if (!loss) return false;
  const Loss* const held = &*loss;
  return dynamic_cast<const losses::BinaryCrossentropy*>(held) != nullptr ||
         dynamic_cast<const losses::BinaryFocalCrossentropy*>(held) != nullptr;
}

template <class Condition>
bool any_loss(const CompileOptions& options, const Condition& condition) {
  bool any = false;
  for (const Any<Loss>& loss : options.loss.list) any = any || condition(loss);
  for (const auto& named : options.loss.named) any = any || condition(named.second);
  return any;
}

/// True if a sample has one target, of one number.
bool has_one_number(const Dataset& data) {
  for (const Field& field : data.fields()) {
    if (field.role == Role::target && element_count(field.shape) != 1) return false;
  }
  return true;
}

}  // namespace

Dataset class_weighted(const Dataset& data, const std::map<std::int64_t, double>& weights,
                       const CompileOptions& options, const std::string& where) {
  if (any_loss(options, is_binary) && has_one_number(data)) {
    for (const auto& entry : weights) {
      if (entry.first == 0 || entry.first == 1) continue;
      fail<ValueError>(where, "class_weight must have the classes 0 and 1 for a binary crossentropy; got class {}",
                       entry.first);
    }
  }
  // Several numbers are labels if the loss accepts labels only.
  const bool labels = any_loss(options, takes_labels_alone);
  return with_class_weights(data, weights, labels ? ClassTargets::labels : ClassTargets::either, where);
}

Value chosen_class_weights(const Value& of_labels, const Value& of_scores, const Value& y_true, const Value& y_pred) {
  const Shape &t = y_true.shape(), &p = y_pred.shape();
  const bool column = t.size() == p.size() && !t.empty() && t.back() == 1 && p.back() != 1;
  return column || p.size() == t.size() + 1 ? of_labels : of_scores;
}

}  // namespace mezzo::detail
