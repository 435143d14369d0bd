#pragma once
#include <any>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/nn/loss.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo {

namespace detail {
/// State of a metric, shared by its copies.
struct MEZZO_API MetricState {
  struct Blank {};
  MetricState() = default;
  explicit MetricState(Blank) {}
  void copy_from(const MetricState& other) { *this = other; }

  /// Numbers of all variables. set() stores them again; variables created in between get their initial value.
  std::vector<Tensor> numbers() const;
  void set(const std::vector<Tensor>& numbers) const;
  /// Sets all variables to their initial values.
  void reset() const;

  std::vector<Variable> variables{};
  std::vector<double> initial{};  ///< initial value of each variable
};
}  // namespace detail

/// Base of metrics, measures of a model over all samples of an epoch or evaluation. Copies share their state, as
/// Python's references do.
///
/// The simple form overrides call(), which returns one number per sample; the result is their weighted mean. Other
/// metrics have state: they override update(), which adds a batch to variables, and result(). Both forms are computed
/// inside of the steps of fit and evaluate.
///
///     class Hits : public Metric {
///      public:
///       Hits() : Metric("hits") { add_state(hits_, {}); }
///       Value result() const override { return hits_; }
///
///      protected:
///       void update(const Value& y_true, const Value& y_pred, const Value&) override {
///         assign(hits_, hits_ + sum(cast(equal(y_true, y_pred), DType::float64)));
///       }
///
///      private:
///       Variable hits_{"hits"};
///     };
///
/// State variables are float64 under any policy. They are not weights of the model: optimizers don't change them, and
/// weight files and checkpoints don't contain them. A step that loss scaling skips leaves them as they are. fit,
/// evaluate, train_on_batch and test_on_batch reset the metrics that they log when they begin; fit at each epoch.
/// Validation within fit keeps the numbers of the training epoch.
class MEZZO_API Metric : public detail::MoveChecked {
 public:
  explicit Metric(std::string name) : name_(std::move(name)) {}  ///< name: key in logs and History
  /// The same from an options struct with `name`, which configs need: see register_class().
  template <class Options,
            class = std::enable_if_t<std::is_same_v<decltype(std::declval<const Options&>().name), std::string>>>
  explicit Metric(const Options& options) : Metric(options.name) {
    made_of_ = options;
  }

  /// Returns one number per sample, or one per element of a sample: (batch,) or (batch, ...), floating. The default is
  /// a ValueError.
  virtual Value call(const Value& y_true, const Value& y_pred) const;

  /// Adds a batch to the state. Outside of a step the numbers are added at once. Weights have the first axes of the
  /// weighted numbers: (batch,) or more; undefined: 1.
  void update_state(const Value& y_true, const Value& y_pred, const Value& sample_weight = {});

  /// Measure of all batches since the last reset. For the simple form: the weighted mean over samples, 0 without
  /// samples. Only metrics of one number can be logged.
  virtual Value result() const;

  /// Sets the state to its initial values.
  void reset_state() const { state_->reset(); }

  /// State variables; some metrics make them at the first update, when shapes are known.
  const std::vector<Variable>& variables() const { return state_->variables; }

  /// Name in logs and histories.
  const std::string& name() const {
    check_not_moved();
    return name_;
  }

  /// Options struct passed to the metric's constructor; empty if the constructor does not pass it to the base class.
  const std::any& made_of() const {
    check_not_moved();
    return made_of_;
  }

  /// State that copies share, for the code that runs steps.
  const detail::Shared<detail::MetricState>& state() const { return state_; }

  /// The metric or loss of that Keras name with its default options. "accuracy" selects its kind by the shapes of
  /// targets and predictions, as in Keras. A NameError lists the valid names.
  static Any<Metric> from_name(const std::string& name);

  /// Converts a loss to the metric that is the mean of the loss.
  template <class L, class = std::enable_if_t<std::is_base_of_v<Loss, L> || std::is_same_v<L, Any<Loss>>>>
  static Any<Metric> adopt(L loss) {
    return of_loss(Any<Loss>(std::move(loss)));
  }

  /// Converts a function of y_true and y_pred to the mean of its values, with the name "metric". Use MeanMetricWrapper
  /// for another name.
  template <class F, std::enable_if_t<detail::is_loss_function<F> && !std::is_base_of_v<Loss, F>, int> = 0>
  static Any<Metric> adopt(F function) {
    return of_loss(detail::LossFunction<F>(std::move(function), {"sum_over_batch_size", "metric"}));
  }

 protected:
  /// Keeps the options struct passed to the constructor, for configs.
  template <class Options>
  void keep_options(const Options& options) {
    made_of_ = options;
  }

  /// Adds a batch to the state, with calls of assign(). The default adds the values of call(), and leaves out those
  /// whose mask in y_pred is false. Metrics with an update() of their own see only sample weights, as in Keras.
  virtual void update(const Value& y_true, const Value& y_pred, const Value& sample_weight);

  /// Makes a state variable, float64 and filled with `initial`, in the constructor or in update(). If it exists
  /// already, only checks the shape: a ShapeError if that differs.
  void add_state(Variable& variable, const Shape& shape, double initial = 0);

  /// Replaces the numbers of a state variable, in update().
  static void assign(const Variable& variable, const Value& value);

  /// Adds values to the state of the simple form: `values` as those of call().
  void add_values(const Value& values, const Value& sample_weight);

 private:
  static Any<Metric> of_loss(Any<Loss> loss);
  std::string name_;
  std::any made_of_;
  detail::Shared<detail::MetricState> state_{std::in_place};
  Variable total_{"total"}, count_{"count"};  // of the simple form
};

namespace detail {

/// Receiver of the updates of metrics on this thread, while a step is traced or run.
class MEZZO_API MetricListener {
 public:
  virtual ~MetricListener() = default;
  /// Called before a metric reads its state.
  virtual void before_update(const Shared<MetricState>& state) = 0;

  /// The listener of this thread, or null.
  static MetricListener*& current();
};

}  // namespace detail

}  // namespace mezzo
