#pragma once
#include <cstddef>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

namespace detail {
/// A value for each output of a model: one for all outputs, a list in their order, `{a, b}`, or by output name,
/// `{{"name", a}, {"other", b}}`. Outputs have the names of the layers that make them.
template <class T>
class PerOutput {
 public:
  using Entry = std::pair<std::string, T>;

  PerOutput() = default;
  template <class D, class = std::enable_if_t<std::is_convertible_v<D, T> && !std::is_same_v<D, std::nullptr_t>>>
  PerOutput(D one) : list{T(std::move(one))}, for_all(true) {}
  PerOutput(std::initializer_list<T> values) : list(values) {}
  PerOutput(std::vector<T> values) : list(std::move(values)) {}
  PerOutput(std::initializer_list<Entry> values) : named(values) {}
  PerOutput(const std::map<std::string, T>& values) : named(values.begin(), values.end()) {}
  PerOutput(const PerOutput&) = default;
  PerOutput(PerOutput&&) noexcept = default;
  /// One operator: with two, `options.loss = {}` is ambiguous for clang.
  PerOutput& operator=(PerOutput other) {
    list = std::move(other.list);
    named = std::move(other.named);
    for_all = other.for_all;
    return *this;
  }
  ~PerOutput() = default;
  PerOutput(std::nullptr_t) = delete;  // also a literal 0

  bool empty() const { return list.empty() && named.empty(); }

  std::vector<T> list{};
  std::vector<Entry> named{};
  bool for_all = false;  ///< true if `list` has one value for all outputs
};
}  // namespace detail

/// Metrics of compile(). For a model with one output: a list, `{"accuracy", AUC()}`. For a model with several outputs:
/// a list with a metric or a list of metrics for each output, `{{"mae", "mse"}, "accuracy", {}}`, or by output name,
/// `{{"price", "mae"}, {"class", {"accuracy", AUC()}}}`. A metric is an object, a Keras name, a loss, or a function of
/// (y_true, y_pred).
class MEZZO_API Metrics {
 public:
  Metrics() = default;

  /// Braces nest for models with several outputs: one list of metrics per output, in order or by name.
  Metrics(std::initializer_list<Metrics> items) : items_(items), is_list_(true) {}

  /// One metric, or its name: `.metrics = "accuracy"`.
  template <class M, std::enable_if_t<std::is_convertible_v<M, Any<Metric>> && !std::is_same_v<M, std::nullptr_t> &&
                                          !std::is_convertible_v<M, std::string>,
                                      int> = 0>
  Metrics(M one) : metric_(Any<Metric>(std::move(one))) {}
  Metrics(const char* text) : name_(text) {}
  Metrics(std::string text) : name_(std::move(text)) {}

  /// A list from a vector, or metrics by the name of the output.
  template <class M, std::enable_if_t<std::is_convertible_v<M, Metrics>, int> = 0>
  Metrics(const std::vector<M>& metrics) : items_(metrics.begin(), metrics.end()), is_list_(true) {}
  template <class M, std::enable_if_t<std::is_convertible_v<M, Metrics>, int> = 0>
  Metrics(const std::map<std::string, M>& by_name) : is_list_(true) {
    for (const auto& entry : by_name) items_.push_back(Metrics{entry.first, Metrics(entry.second)});
  }
  Metrics(std::nullptr_t) = delete;  // also a literal 0

  /// True if there is no metric.
  bool empty() const { return !name_ && !metric_ && items_.empty(); }

  /// @name For Model
  /// @{
  bool is_list() const { return is_list_; }
  const std::vector<Metrics>& items() const { return items_; }
  /// Name, if this is one; else "".
  std::string name() const { return name_.value_or(""); }
  /// True if this is a metric, its name, or an empty handle.
  bool is_metric() const { return name_ || metric_; }
  /// The metric, if this is one or its name. A NameError for an unknown name.
  Any<Metric> metric() const { return name_ ? Any<Metric>(*name_) : metric_.value_or(Any<Metric>()); }
  /// @}

 private:
  std::optional<std::string> name_;
  std::optional<Any<Metric>> metric_;
  std::vector<Metrics> items_;
  bool is_list_ = false;
};

/// Options of Model::compile. Optimizer, loss and metrics are objects or Keras names.
struct CompileOptions {
  Any<Optimizer> optimizer = "adam";  ///< trains all trainable weights
  /// A loss, its name, or a function of (y_true, y_pred): one for all outputs, a list, or by output name. Required,
  /// except for a class with a training_step() or compute_loss() of its own, or with add_loss(). An output with an
  /// empty one, `{"mse", {}}` or `{{"price", "mse"}, {"class", {}}}`, is not trained.
  detail::PerOutput<Any<Loss>> loss{};
  /// Factors of the losses in the sum that is minimized; by default 1. Outputs not named have 1.
  detail::PerOutput<double> loss_weights{};
  Metrics metrics{};           ///< logged beside "loss"; names must differ
  Metrics weighted_metrics{};  ///< metrics that take sample weights and class weights into account
  /// Scaling of gradients in steps that compute in float16; not given: the defaults of LossScaleOptions. A loss_scale
  /// of the Trainer overrides it.
  std::optional<LossScaleOptions> loss_scale{};
};

namespace detail {

/// Losses and metrics of compile(), for known outputs.
class MEZZO_API CompiledOutputs {
 public:
  struct Tracked {
    std::string name;  ///< in logs
    Any<Metric> metric;
    std::size_t output = 0;
    bool weighted = false;
  };

  /// `names`: names of the outputs. Errors begin with `where`: a ValueError for a wrong number of losses, loss_weights
  /// or metrics, and a NameError for unknown names of outputs or metrics and for names of logs that occur twice, those
  /// of validations included.
  CompiledOutputs(const CompileOptions& options, const std::vector<std::string>& names, const std::string& where);

  /// True if the output has a loss or a metric.
  bool needs_target(std::size_t output) const;

  std::vector<std::string> names;
  std::vector<Any<Loss>> losses;  ///< empty ones: outputs that aren't trained
  std::vector<double> loss_weights;
  std::vector<Tracked> metrics;

 private:
  void require_apart_from_validation(const std::string& where) const;
  void add_losses(const CompileOptions& options, const std::string& where);
  void add_metrics(const Metrics& given, bool weighted, const std::string& where);
  void add_metrics_of(std::size_t output, const Metrics& given, bool weighted, const std::string& where);
};

}  // namespace detail

}  // namespace mezzo
