#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo::metrics {

struct IoUOptions {
  std::int64_t num_classes = 0;                  ///< Required: 1 or more.
  std::vector<std::int64_t> target_class_ids{};  ///< Required: classes whose mean is the result.
  std::string name{};                            ///< name in logs and histories; "": that of the class
  std::optional<std::int64_t> ignore_class{};    ///< class in y_true that doesn't count
  bool sparse_y_true = true;                     ///< true: y_true holds classes; false: a score for each class
  bool sparse_y_pred = true;                     ///< true: y_pred holds classes; false: a score for each class
  std::int64_t axis = -1;                        ///< axis of the scores
};

/// Intersection over union: true positives divided by the sum of true positives, false positives and false negatives of
/// a class; mean over classes that occur. Sample weights have the shape of the classes. Classes outside of [0,
/// num_classes) don't count. A ValueError for options out of range. The state is the confusion matrix.
class MEZZO_API IoU : public Metric {
 public:
  explicit IoU(IoUOptions options);
  Value result() const override;

 protected:
  void update(const Value& y_true, const Value& y_pred, const Value& sample_weight) override;

 private:
  IoUOptions options_;
  Variable matrix_{"total_confusion_matrix"};
};

struct BinaryIoUOptions {
  std::vector<std::int64_t> target_class_ids{0, 1};  ///< classes whose mean is the result
  double threshold = 0.5;                            ///< predictions from it on are class 1, others class 0
  std::string name = "binary_io_u";                  ///< name in logs and histories
};

/// IoU of two classes.
class MEZZO_API BinaryIoU : public IoU {
 public:
  explicit BinaryIoU(const BinaryIoUOptions& options = {});

 protected:
  void update(const Value& y_true, const Value& y_pred, const Value& sample_weight) override;

 private:
  double threshold_;
};

struct MeanIoUOptions {
  std::int64_t num_classes = 0;                ///< Required: 1 or more.
  std::string name = "mean_io_u";              ///< name in logs and histories
  std::optional<std::int64_t> ignore_class{};  ///< class in y_true that doesn't count
  bool sparse_y_true = true;                   ///< true: y_true holds classes; false: a score for each class
  bool sparse_y_pred = true;                   ///< true: y_pred holds classes; false: a score for each class
  std::int64_t axis = -1;                      ///< axis of the scores
};

/// Mean of the IoU of all classes.
class MEZZO_API MeanIoU : public IoU {
 public:
  explicit MeanIoU(const MeanIoUOptions& options);
};

struct OneHotIoUOptions {
  std::int64_t num_classes = 0;                  ///< Required: 1 or more.
  std::vector<std::int64_t> target_class_ids{};  ///< Required: classes whose mean is the result.
  std::string name = "one_hot_io_u";             ///< name in logs and histories
  std::optional<std::int64_t> ignore_class{};    ///< class in y_true that doesn't count
  bool sparse_y_pred = false;                    ///< true: y_pred holds classes; false: a score for each class
  std::int64_t axis = -1;                        ///< axis of the scores
};

/// IoU for a y_true with a score for each class.
class MEZZO_API OneHotIoU : public IoU {
 public:
  explicit OneHotIoU(const OneHotIoUOptions& options);
};

struct OneHotMeanIoUOptions {
  std::int64_t num_classes = 0;                ///< Required: 1 or more.
  std::string name = "one_hot_mean_io_u";      ///< name in logs and histories
  std::optional<std::int64_t> ignore_class{};  ///< class in y_true that doesn't count
  bool sparse_y_pred = false;                  ///< true: y_pred holds classes; false: a score for each class
  std::int64_t axis = -1;                      ///< axis of the scores
};

/// Mean of the IoU of all classes, for a y_true with a score for each class.
class MEZZO_API OneHotMeanIoU : public IoU {
 public:
  explicit OneHotMeanIoU(const OneHotMeanIoUOptions& options);
};

}  // namespace mezzo::metrics

namespace mezzo {

using metrics::BinaryIoU;
using metrics::IoU;
using metrics::MeanIoU;
using metrics::OneHotIoU;
using metrics::OneHotMeanIoU;

}  // namespace mezzo
