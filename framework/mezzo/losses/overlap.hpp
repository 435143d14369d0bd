#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

struct DiceFunctionOptions {
  Shape axis{};  ///< axes of the sums; {}: all
};

/// 1 - 2 sum(y_true y_pred) / (sum(y_true) + sum(y_pred) + 1e-7), with sums over the axes (Milletari et al., 2016).
/// Without axes the result is one number for the batch.
MEZZO_API Value dice(const Value& y_true, const Value& y_pred, const DiceFunctionOptions& options = {});

struct TverskyFunctionOptions {
  double alpha = 0.5;  ///< factor of the missed y_true
  double beta = 0.5;   ///< factor of the wrong y_pred
  Shape axis{};        ///< axes of the sums; {}: all
};

/// 1 - t / (t + alpha a + beta b + 1e-7) with t = sum(y_true y_pred), a = sum(y_true (1 - y_pred)), b = sum(y_pred (1 -
/// y_true)) over the axes (Salehi et al., 2017). Without axes the result is one number for the batch.
MEZZO_API Value tversky(const Value& y_true, const Value& y_pred, const TverskyFunctionOptions& options = {});

struct CircleFunctionOptions {
  double gamma = 80.0;          ///< scale of the similarities
  double margin = 0.4;          ///< margin of the similarities
  bool remove_diagonal = true;  ///< leaves out the pair of a sample with itself
};

/// Circle loss (Sun et al., 2020) of unit vectors y_pred (batch, size) with the labels y_true, integers (batch,) or
/// (batch, 1): (batch,). All pairs of samples of the batch are compared; samples with a loss of 0 do not count in
/// means.
MEZZO_API Value circle(const Value& y_true, const Value& y_pred, const CircleFunctionOptions& options = {});

namespace losses {

struct DiceOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "dice";                      ///< name in logs and histories
  Shape axis{};                                   ///< axes of the sums; {}: all
};

/// dice as a loss.
class MEZZO_API Dice : public Loss {
 public:
  explicit Dice(DiceOptions options = {}) : Loss(options), options_{std::move(options.axis)} {}
  Value call(const Value& y_true, const Value& y_pred) const override { return dice(y_true, y_pred, options_); }

 private:
  DiceFunctionOptions options_;
};

struct TverskyOptions {
  double alpha = 0.5;                             ///< factor of the missed y_true
  double beta = 0.5;                              ///< factor of the wrong y_pred
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "tversky";                   ///< name in logs and histories
  Shape axis{};                                   ///< axes of the sums; {}: all
};

/// tversky as a loss.
class MEZZO_API Tversky : public Loss {
 public:
  explicit Tversky(TverskyOptions options = {})
      : Loss(options), options_{options.alpha, options.beta, std::move(options.axis)} {}
  Value call(const Value& y_true, const Value& y_pred) const override { return tversky(y_true, y_pred, options_); }

 private:
  TverskyFunctionOptions options_;
};

struct CircleOptions {
  double gamma = 80.0;                            ///< scale of the similarities
  double margin = 0.4;                            ///< margin of the similarities
  bool remove_diagonal = true;                    ///< leaves out the pair of a sample with itself
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "circle";                    ///< name in logs and histories
};

/// circle as a loss.
class MEZZO_API Circle : public Loss {
 public:
  explicit Circle(const CircleOptions& options = {})
      : Loss(options), options_{options.gamma, options.margin, options.remove_diagonal} {}
  Value call(const Value& y_true, const Value& y_pred) const override { return circle(y_true, y_pred, options_); }
  Value mask(const Value& y_true, const Value& values) const override;

 private:
  CircleFunctionOptions options_;
};

}  // namespace losses

using losses::Circle;
using losses::Dice;
using losses::Tversky;

}  // namespace mezzo
