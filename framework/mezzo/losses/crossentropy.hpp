#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

struct BinaryCrossentropyFunctionOptions {
  bool from_logits = false;    ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;  ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;      ///< axis of the mean
};

/// -y_true log(y_pred) - (1 - y_true) log(1 - y_pred), mean over the axis: (batch, ..., n) to (batch, ...).
/// Probabilities are clipped to [1e-7, 1 - 1e-7]; logits are stable. Label smoothing s replaces y_true by y_true (1 -
/// s) + s / 2. In at least float32.
MEZZO_API Value binary_crossentropy(const Value& y_true, const Value& y_pred,
                                    const BinaryCrossentropyFunctionOptions& options = {});

struct CategoricalCrossentropyFunctionOptions {
  bool from_logits = false;    ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;  ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;      ///< axis of the classes
};

/// -sum of y_true log(y_pred) over the classes: (batch, ..., classes) to (batch, ...). y_true holds probabilities of
/// the classes, such as 0 and 1. Predicted probabilities are scaled to sum to 1 and clipped to [1e-7, 1 - 1e-7]. Label
/// smoothing s replaces y_true by y_true (1 - s) + s / classes. In at least float32.
MEZZO_API Value categorical_crossentropy(const Value& y_true, const Value& y_pred,
                                         const CategoricalCrossentropyFunctionOptions& options = {});

struct BinaryFocalCrossentropyFunctionOptions {
  bool apply_class_balancing = false;  ///< multiplies class 1 by alpha and class 0 by 1 - alpha
  double alpha = 0.25;                 ///< weight of class 1
  double gamma = 2.0;                  ///< exponent of the focal factor
  bool from_logits = false;            ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;          ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;              ///< axis of the mean
};

/// binary_crossentropy of each element times (1 - p)^gamma, where p is the predicted probability of the right class
/// (Lin et al., 2017); mean over the axis. In at least float32.
MEZZO_API Value binary_focal_crossentropy(const Value& y_true, const Value& y_pred,
                                          const BinaryFocalCrossentropyFunctionOptions& options = {});

struct CategoricalFocalCrossentropyFunctionOptions {
  double alpha = 0.25;         ///< factor of all classes
  double gamma = 2.0;          ///< exponent of the focal factor
  bool from_logits = false;    ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;  ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;      ///< axis of the classes
};

/// -sum of alpha (1 - y_pred)^gamma y_true log(y_pred) over the classes (Lin et al., 2017): (batch, ..., classes) to
/// (batch, ...). In at least float32.
MEZZO_API Value categorical_focal_crossentropy(const Value& y_true, const Value& y_pred,
                                               const CategoricalFocalCrossentropyFunctionOptions& options = {});

/// Sum of y_true log(y_true / y_pred) over the last axis, with both clipped to [1e-7, 1]: (batch, ..., n) to (batch,
/// ...). In at least float32.
MEZZO_API Value kl_divergence(const Value& y_true, const Value& y_pred);

struct CategoricalGeneralizedCrossEntropyFunctionOptions {
  double q = 0.5;  ///< between 0 (cross-entropy) and 1 (absolute error), both excluded
};

/// (1 - p^q) / q, where p is the probability in y_pred (batch, ..., classes) of the class y_true, an integer (batch,
/// ...) (Zhang and Sabuncu, 2018). A ValueError unless 0 < q < 1.
MEZZO_API Value categorical_generalized_cross_entropy(
    const Value& y_true, const Value& y_pred, const CategoricalGeneralizedCrossEntropyFunctionOptions& options = {});

/// Connectionist temporal classification by ctc_loss(): labels y_true (batch, labels), filled up with 0, the class of
/// the blank; logits y_pred (batch, frames, classes). Returns (batch,). All frames count.
MEZZO_API Value ctc(const Value& y_true, const Value& y_pred);

namespace losses {

struct BinaryCrossentropyOptions {
  bool from_logits = false;                       ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;                     ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;                         ///< axis of the mean
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "binary_crossentropy";       ///< name in logs and histories
};

/// binary_crossentropy as a loss.
class MEZZO_API BinaryCrossentropy : public Loss {
 public:
  explicit BinaryCrossentropy(const BinaryCrossentropyOptions& options = {})
      : Loss(options), options_{options.from_logits, options.label_smoothing, options.axis} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return binary_crossentropy(y_true, y_pred, options_);
  }

 private:
  BinaryCrossentropyFunctionOptions options_;
};

struct CategoricalCrossentropyOptions {
  bool from_logits = false;                       ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;                     ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;                         ///< axis of the classes
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "categorical_crossentropy";  ///< name in logs and histories
};

/// categorical_crossentropy as a loss.
class MEZZO_API CategoricalCrossentropy : public Loss {
 public:
  explicit CategoricalCrossentropy(const CategoricalCrossentropyOptions& options = {})
      : Loss(options), options_{options.from_logits, options.label_smoothing, options.axis} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return categorical_crossentropy(y_true, y_pred, options_);
  }

 private:
  CategoricalCrossentropyFunctionOptions options_;
};

struct BinaryFocalCrossentropyOptions {
  bool apply_class_balancing = false;              ///< multiplies class 1 by alpha and class 0 by 1 - alpha
  double alpha = 0.25;                             ///< weight of class 1
  double gamma = 2.0;                              ///< exponent of the focal factor
  bool from_logits = false;                        ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;                      ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;                          ///< axis of the mean
  std::string reduction = "sum_over_batch_size";   ///< how the values become one number; see Loss
  std::string name = "binary_focal_crossentropy";  ///< name in logs and histories
};

/// binary_focal_crossentropy as a loss.
class MEZZO_API BinaryFocalCrossentropy : public Loss {
 public:
  explicit BinaryFocalCrossentropy(const BinaryFocalCrossentropyOptions& options = {})
      : Loss(options), options_{options.apply_class_balancing, options.alpha,           options.gamma,
                                options.from_logits,           options.label_smoothing, options.axis} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return binary_focal_crossentropy(y_true, y_pred, options_);
  }

 private:
  BinaryFocalCrossentropyFunctionOptions options_;
};

struct CategoricalFocalCrossentropyOptions {
  double alpha = 0.25;                                  ///< factor of all classes
  double gamma = 2.0;                                   ///< exponent of the focal factor
  bool from_logits = false;                             ///< true: y_pred holds logits; false: probabilities
  double label_smoothing = 0;                           ///< moves targets towards the middle: 0 none, 1 all the way
  std::int64_t axis = -1;                               ///< axis of the classes
  std::string reduction = "sum_over_batch_size";        ///< how the values become one number; see Loss
  std::string name = "categorical_focal_crossentropy";  ///< name in logs and histories
};

/// categorical_focal_crossentropy as a loss.
class MEZZO_API CategoricalFocalCrossentropy : public Loss {
 public:
  explicit CategoricalFocalCrossentropy(const CategoricalFocalCrossentropyOptions& options = {})
      : Loss(options),
        options_{options.alpha, options.gamma, options.from_logits, options.label_smoothing, options.axis} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return categorical_focal_crossentropy(y_true, y_pred, options_);
  }

 private:
  CategoricalFocalCrossentropyFunctionOptions options_;
};

struct KLDivergenceOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "kl_divergence";             ///< name in logs and histories
};

/// kl_divergence as a loss.
class MEZZO_API KLDivergence : public Loss {
 public:
  explicit KLDivergence(const KLDivergenceOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return kl_divergence(y_true, y_pred); }
};

struct CTCOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "ctc";                       ///< name in logs and histories
};

/// ctc as a loss.
class MEZZO_API CTC : public Loss {
 public:
  explicit CTC(const CTCOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return ctc(y_true, y_pred); }
};

struct CategoricalGeneralizedCrossEntropyOptions {
  double q = 0.5;                                 ///< between 0 (cross-entropy) and 1 (absolute error), both excluded
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "categorical_generalized_cross_entropy";  ///< name in logs and histories
};

/// categorical_generalized_cross_entropy as a loss.
class MEZZO_API CategoricalGeneralizedCrossEntropy : public Loss {
 public:
  explicit CategoricalGeneralizedCrossEntropy(const CategoricalGeneralizedCrossEntropyOptions& options = {})
      : Loss(options), options_{options.q} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return categorical_generalized_cross_entropy(y_true, y_pred, options_);
  }

 private:
  CategoricalGeneralizedCrossEntropyFunctionOptions options_;
};

}  // namespace losses

using losses::BinaryCrossentropy;
using losses::BinaryFocalCrossentropy;
using losses::CategoricalCrossentropy;
using losses::CategoricalFocalCrossentropy;
using losses::CategoricalGeneralizedCrossEntropy;
using losses::CTC;
using losses::KLDivergence;

}  // namespace mezzo
