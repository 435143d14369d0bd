#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/nn/positional.hpp>

namespace mezzo {

/// 1 where the score of the class of the largest y_true is among the k best of y_pred, else 0: two values of the same
/// shape (batch, ..., classes) to (batch, ...), float32. Scores equal to the k-th best count.
MEZZO_API Value top_k_categorical_accuracy(const Value& y_true, const Value& y_pred, std::int64_t k = 5);

/// The same for integer labels y_true (batch, ...) or (batch, ..., 1). With `from_sorted_ids` y_pred holds classes, the
/// best first, (batch, ..., n), instead of scores: 1 where the label is among the first k of them.
MEZZO_API Value sparse_top_k_categorical_accuracy(const Value& y_true, const Value& y_pred, std::int64_t k = 5,
                                                  bool from_sorted_ids = false);

}  // namespace mezzo

namespace mezzo::metrics {

struct AccuracyOptions {
  std::string name = "accuracy";  ///< name in logs and histories
};

/// Fraction of the elements of y_pred that are equal to y_true.
class MEZZO_API Accuracy : public Metric {
 public:
  explicit Accuracy(const AccuracyOptions& options = {}) : Metric(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override;
};

struct TopKCategoricalAccuracyOptions {
  std::int64_t k = 5;                               ///< number of best scores
  std::string name = "top_k_categorical_accuracy";  ///< name in logs and histories
};

/// Mean of top_k_categorical_accuracy as a metric.
class MEZZO_API TopKCategoricalAccuracy : public Metric {
 public:
  /// With `k` as the first argument: `TopKCategoricalAccuracy(2, {.name = "top_2"})`.
  template <class I, detail::IfInteger<I> = 0>
  explicit TopKCategoricalAccuracy(I k, TopKCategoricalAccuracyOptions options = {})
      : TopKCategoricalAccuracy(detail::positional("TopKCategoricalAccuracy", "", "k",
                                                   &TopKCategoricalAccuracyOptions::k, std::int64_t{k},
                                                   std::move(options))) {}
  explicit TopKCategoricalAccuracy(const TopKCategoricalAccuracyOptions& options = {})
      : Metric(options), k_(options.k) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return top_k_categorical_accuracy(y_true, y_pred, k_);
  }

 private:
  std::int64_t k_;
};

struct SparseTopKCategoricalAccuracyOptions {
  std::int64_t k = 5;                                      ///< number of best scores
  std::string name = "sparse_top_k_categorical_accuracy";  ///< name in logs and histories
  bool from_sorted_ids = false;                            ///< true: y_pred holds classes, the best first, not scores
};

/// Mean of sparse_top_k_categorical_accuracy as a metric.
class MEZZO_API SparseTopKCategoricalAccuracy : public Metric {
 public:
  /// With `k` as the first argument: `SparseTopKCategoricalAccuracy(2, {.name = "top_2"})`.
  template <class I, detail::IfInteger<I> = 0>
  explicit SparseTopKCategoricalAccuracy(I k, SparseTopKCategoricalAccuracyOptions options = {})
      : SparseTopKCategoricalAccuracy(detail::positional("SparseTopKCategoricalAccuracy", "", "k",
                                                         &SparseTopKCategoricalAccuracyOptions::k, std::int64_t{k},
                                                         std::move(options))) {}
  explicit SparseTopKCategoricalAccuracy(const SparseTopKCategoricalAccuracyOptions& options = {})
      : Metric(options), k_(options.k), from_sorted_ids_(options.from_sorted_ids) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return sparse_top_k_categorical_accuracy(y_true, y_pred, k_, from_sorted_ids_);
  }

 private:
  std::int64_t k_;
  bool from_sorted_ids_;
};

}  // namespace mezzo::metrics

namespace mezzo {

using metrics::Accuracy;
using metrics::SparseTopKCategoricalAccuracy;
using metrics::TopKCategoricalAccuracy;

}  // namespace mezzo
