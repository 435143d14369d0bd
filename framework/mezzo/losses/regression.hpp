#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

/// 100 times the mean of |y_true - y_pred| / max(|y_true|, 1e-7) over the last axis: (batch, ..., n) to (batch, ...).
/// In at least float32.
MEZZO_API Value mean_absolute_percentage_error(const Value& y_true, const Value& y_pred);

/// Mean of (log(1 + y_true) - log(1 + y_pred))^2 over the last axis, with both at least 1e-7: (batch, ..., n) to
/// (batch, ...). In at least float32.
MEZZO_API Value mean_squared_logarithmic_error(const Value& y_true, const Value& y_pred);

struct CosineSimilarityFunctionOptions {
  std::int64_t axis = -1;  ///< axis of the vectors
};

/// Negative cosine of the angle between y_true and y_pred, which are divided by their norms, or by 1e-7 if that is
/// larger: the sum of their products over the axis, times -1. The metric of that name has the other sign. In at least
/// float32.
MEZZO_API Value cosine_similarity(const Value& y_true, const Value& y_pred,
                                  const CosineSimilarityFunctionOptions& options = {});

struct HuberFunctionOptions {
  double delta = 1.0;  ///< error at which the loss changes from quadratic to linear
};

/// Mean over the last axis of e^2 / 2 where |e| <= delta, else delta |e| - delta^2 / 2, with e = y_pred - y_true
/// (Huber, 1964): (batch, ..., n) to (batch, ...). In at least float32.
MEZZO_API Value huber(const Value& y_true, const Value& y_pred, const HuberFunctionOptions& options = {});

/// Mean of log(cosh(y_pred - y_true)) over the last axis: (batch, ..., n) to (batch, ...). In at least float32.
MEZZO_API Value log_cosh(const Value& y_true, const Value& y_pred);

/// Mean of y_pred - y_true log(y_pred + 1e-7) over the last axis: (batch, ..., n) to (batch, ...). In at least float32.
MEZZO_API Value poisson(const Value& y_true, const Value& y_pred);

namespace losses {

struct MeanAbsolutePercentageErrorOptions {
  std::string reduction = "sum_over_batch_size";        ///< how the values become one number; see Loss
  std::string name = "mean_absolute_percentage_error";  ///< name in logs and histories
};

/// mean_absolute_percentage_error as a loss.
class MEZZO_API MeanAbsolutePercentageError : public Loss {
 public:
  explicit MeanAbsolutePercentageError(const MeanAbsolutePercentageErrorOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return mean_absolute_percentage_error(y_true, y_pred);
  }
};

struct MeanSquaredLogarithmicErrorOptions {
  std::string reduction = "sum_over_batch_size";        ///< how the values become one number; see Loss
  std::string name = "mean_squared_logarithmic_error";  ///< name in logs and histories
};

/// mean_squared_logarithmic_error as a loss.
class MEZZO_API MeanSquaredLogarithmicError : public Loss {
 public:
  explicit MeanSquaredLogarithmicError(const MeanSquaredLogarithmicErrorOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return mean_squared_logarithmic_error(y_true, y_pred);
  }
};

struct CosineSimilarityOptions {
  std::int64_t axis = -1;                         ///< axis of the vectors
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "cosine_similarity";         ///< name in logs and histories
};

/// cosine_similarity as a loss.
class MEZZO_API CosineSimilarity : public Loss {
 public:
  explicit CosineSimilarity(const CosineSimilarityOptions& options = {}) : Loss(options), options_{options.axis} {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    return cosine_similarity(y_true, y_pred, options_);
  }

 private:
  CosineSimilarityFunctionOptions options_;
};

struct HuberOptions {
  double delta = 1.0;                             ///< error at which the loss changes from quadratic to linear
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "huber_loss";                ///< name in logs and histories
};

/// huber as a loss.
class MEZZO_API Huber : public Loss {
 public:
  explicit Huber(const HuberOptions& options = {}) : Loss(options), options_{options.delta} {}
  Value call(const Value& y_true, const Value& y_pred) const override { return huber(y_true, y_pred, options_); }

 private:
  HuberFunctionOptions options_;
};

struct LogCoshOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "log_cosh";                  ///< name in logs and histories
};

/// log_cosh as a loss.
class MEZZO_API LogCosh : public Loss {
 public:
  explicit LogCosh(const LogCoshOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return log_cosh(y_true, y_pred); }
};

struct PoissonOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "poisson";                   ///< name in logs and histories
};

/// poisson as a loss.
class MEZZO_API Poisson : public Loss {
 public:
  explicit Poisson(const PoissonOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return poisson(y_true, y_pred); }
};

}  // namespace losses

using losses::CosineSimilarity;
using losses::Huber;
using losses::LogCosh;
using losses::MeanAbsolutePercentageError;
using losses::MeanSquaredLogarithmicError;
using losses::Poisson;

}  // namespace mezzo
