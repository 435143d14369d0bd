#pragma once
#include <any>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

namespace detail {
/// True if F is a function of y_true and y_pred.
template <class F>
constexpr bool is_loss_function = std::is_invocable_r_v<Value, const F&, const Value&, const Value&>;

/// Brings y_true and y_pred to one rank, as Keras does: if the longer shape ends with 1, the shorter value gets that
/// axis if it has one axis, and the longer one loses it otherwise.
MEZZO_API std::pair<Value, Value> same_rank(const Value& y_true, const Value& y_pred);
}  // namespace detail

/// Base of losses, the quantities that training minimizes. A function of (y_true, y_pred) converts to a loss, too:
/// `.loss = mean_squared_error`, `.loss = [](const Value& y_true, const Value& y_pred) { return ...; }`.
class MEZZO_API Loss : public detail::MoveChecked {
 public:
  /// `reduction` as in Keras; others are a ValueError:
  /// - "sum_over_batch_size" or "mean": sum of the weighted values, divided by their number
  /// - "sum": sum of the weighted values
  /// - "mean_with_sample_weight": sum of the weighted values, divided by the sum of the weights of the values: a weight
  ///   of a sample counts once for each of its values, and masked values count 0; 0 if that sum is 0; without weights
  ///   and mask the mean
  /// - "none": the weighted values; not for compile()
  explicit Loss(std::string name, std::string reduction = "sum_over_batch_size");
  /// The same from an options struct with `name` and `reduction`, which configs need: see register_class().
  template <class Options,
            class = std::enable_if_t<std::is_same_v<decltype(std::declval<const Options&>().reduction), std::string>>>
  explicit Loss(const Options& options) : Loss(options.name, options.reduction) {
    made_of_ = options;
  }

  /// Returns one number per sample, or one per element of a sample: (batch,) or (batch, ...), float32 or float64. The
  /// arguments are in Keras' order.
  virtual Value call(const Value& y_true, const Value& y_pred) const = 0;

  /// Mask of the values that count: bool, in the shape of `values`, the result of call(); undefined: all. Masked values
  /// are 0, and means are over the others.
  virtual Value mask(const Value& y_true, const Value& values) const;

  /// Values of call(), multiplied by the sample weights and reduced. Weights have the first axes of the values,
  /// (batch,) or (batch, ...); a last axis of size 1 more is dropped. A ShapeError for others. The mask of y_pred acts
  /// like mask(): a mean is over the values whose mask is true, and 0 if there are none.
  Value operator()(const Value& y_true, const Value& y_pred, const Value& sample_weight = {}) const;

  /// Name in logs and histories.
  const std::string& name() const {
    check_not_moved();
    return name_;
  }

  /// "sum_over_batch_size", "mean", "sum", "mean_with_sample_weight" or "none".
  const std::string& reduction() const { return reduction_; }

  /// Options struct passed to the loss's constructor; empty if the constructor does not pass it to the base class.
  const std::any& made_of() const {
    check_not_moved();
    return made_of_;
  }

  /// The loss of that Keras name ("mse", "sparse_categorical_crossentropy") with its default options. A NameError lists
  /// the valid names.
  static Any<Loss> from_name(const std::string& name);

  /// Converts a function of y_true and y_pred to a loss of the name "loss".
  template <class F, class = std::enable_if_t<detail::is_loss_function<F> && !std::is_base_of_v<Loss, F>>>
  static Any<Loss> adopt(F function);

  /// Converts a function with options, such as binary_crossentropy, to a loss with the default options.
  template <class Options>
  static Any<Loss> adopt(Value (*function)(const Value&, const Value&, const Options&));

 private:
  std::string name_;
  std::string reduction_;
  std::any made_of_;
};

struct LossFunctionOptions {
  std::string reduction = "sum_over_batch_size";  ///< see Loss
  std::string name = "loss";                      ///< name in logs and histories
};

namespace detail {
/// Base of losses made of functions, whose meaning is unknown.
class MEZZO_API LossOfFunction : public Loss {
 protected:
  using Loss::Loss;
};

/// A function of y_true and y_pred as a loss: `LossFunction([](const Value& y_true, const Value& y_pred) { ... })`. The
/// function receives values of one rank: y_true (batch,) becomes (batch, 1) beside y_pred (batch, 1).
template <class F>
class LossFunction : public LossOfFunction {
 public:
  explicit LossFunction(F function, LossFunctionOptions options = {})
      : LossOfFunction(std::move(options.name), std::move(options.reduction)), function_(std::move(function)) {}
  Value call(const Value& y_true, const Value& y_pred) const override {
    check_not_moved();
    const std::pair<Value, Value> both = detail::same_rank(y_true, y_pred);
    return function_(both.first, both.second);
  }

 private:
  F function_;
};
}  // namespace detail

template <class F, class>
Any<Loss> Loss::adopt(F function) {
  return detail::LossFunction<F>(std::move(function));
}

template <class Options>
Any<Loss> Loss::adopt(Value (*function)(const Value&, const Value&, const Options&)) {
  return adopt([function](const Value& y_true, const Value& y_pred) { return function(y_true, y_pred, Options()); });
}

}  // namespace mezzo
