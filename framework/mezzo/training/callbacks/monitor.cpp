#include <mezzo/training/callbacks/monitor.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <typeinfo>

#include <mezzo/core/demangled.hpp>
#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/nn/loss_metric.hpp>
#include <mezzo/training/model/model.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo {
namespace {

// Names of Keras' metrics, with their short forms, by the direction of their classes in Keras.
constexpr const char* rising[] = {"acc",
                                  "accuracy",
                                  "binary_accuracy",
                                  "categorical_accuracy",
                                  "sparse_categorical_accuracy",
                                  "top_k_categorical_accuracy",
                                  "sparse_top_k_categorical_accuracy",
                                  "auc",
                                  "precision",
                                  "recall",
                                  "precision_at_recall",
                                  "recall_at_precision",
                                  "sensitivity_at_specificity",
                                  "specificity_at_sensitivity",
                                  "true_positives",
                                  "true_negatives",
                                  "f1_score",
                                  "fbeta_score",
                                  "iou",
                                  "binary_io_u",
                                  "io_u",
                                  "mean_io_u",
                                  "one_hot_io_u",
                                  "one_hot_mean_io_u",
                                  "cosine_similarity",
                                  "r2_score",
                                  "pearson_correlation",
                                  "concordance_correlation"};
constexpr const char* falling[] = {"loss",
                                   "mae",
                                   "mse",
                                   "mape",
                                   "msle",
                                   "rmse",
                                   "mean_absolute_error",
                                   "mean_squared_error",
                                   "mean_absolute_percentage_error",
                                   "mean_squared_logarithmic_error",
                                   "root_mean_squared_error",
                                   "logcosh",
                                   "log_cosh",
                                   "huber",
                                   "hinge",
                                   "squared_hinge",
                                   "categorical_hinge",
                                   "kl_divergence",
                                   "poisson",
                                   "crossentropy",
                                   "binary_crossentropy",
                                   "categorical_crossentropy",
                                   "sparse_categorical_crossentropy",
                                   "false_positives",
                                   "false_negatives"};

/// True for one of the names, and for "<output>_<name>" of a model with several outputs.
template <std::size_t N>
bool has(const char* const (&names)[N], const std::string& name) {
  return std::any_of(names, names + N,
                     [&](const char* one) { return name == one || name.ends_with(std::string("_") + one); });
}

/// True if numbers of that name should rise; none for an unknown name.
std::optional<bool> direction_of(const std::string& name) {
  if (has(falling, name)) return false;
  return has(rising, name) ? std::optional(true) : std::nullopt;
}

/// Direction of a metric by its class: losses fall. None for other classes than Keras', and for functions, whose
/// meaning is unknown.
std::optional<bool> direction_of(const Metric& metric) {
  if (const auto* const mean = dynamic_cast<const detail::LossMetric*>(&metric)) {
    const bool function = dynamic_cast<const detail::LossOfFunction*>(&mean->loss()) != nullptr;
    return function ? std::nullopt : std::optional(false);
  }
  const std::string whole = detail::demangled(typeid(metric));
  return direction_of(detail::snake_case(whole.substr(whole.rfind(':') + 1)));
}

/// Direction by the class of the metric of that name, or "<output>_<name>", in a compiled model.
std::optional<bool> direction_in(const Metrics& metrics, const std::string& name) {
  for (const Metrics& item : metrics.items()) {
    if (const auto rises = direction_in(item, name)) return rises;
  }
  const Any<Metric> metric = metrics.is_metric() ? metrics.metric() : Any<Metric>();
  if (!metric || (name != metric->name() && !name.ends_with("_" + metric->name()))) return {};
  return direction_of(*metric);
}

std::optional<bool> direction_in(const Model* model, const std::string& name) {
  const CompileOptions* const compiled = model == nullptr ? nullptr : model->compile_options();
  if (compiled == nullptr) return {};
  const auto rises = direction_in(compiled->metrics, name);
  return rises ? rises : direction_in(compiled->weighted_metrics, name);
}

/// Adds the names of metric objects whose classes have a direction.
void add_names(const Metrics& metrics, std::vector<std::string>& names) {
  for (const Metrics& item : metrics.items()) add_names(item, names);
  const Any<Metric> metric = metrics.is_metric() ? metrics.metric() : Any<Metric>();
  if (metric && direction_of(*metric)) names.push_back(metric->name());
}

std::string nearest_known(const Model* model, const std::string& name) {
  std::vector<std::string> names(std::begin(rising), std::end(rising));
  names.insert(names.end(), std::begin(falling), std::end(falling));
  if (const CompileOptions* const compiled = model == nullptr ? nullptr : model->compile_options()) {
    add_names(compiled->metrics, names);
    add_names(compiled->weighted_metrics, names);
  }
  return detail::nearest_name(name, names);
}

}  // namespace

detail::Monitor::Monitor(std::string callback, std::string name, std::string mode, double min_delta)
    : callback_(std::move(callback)), name_(std::move(name)), mode_(std::move(mode)), min_delta_(std::abs(min_delta)) {
  if (mode_ != "auto" && mode_ != "min" && mode_ != "max") {
    fail_unknown("[" + callback_ + "]", "mode", mode_, {"auto", "min", "max"});
  }
}

void detail::Monitor::resolve(const Session& session) {
  seen_ = false;
  if (mode_ != "auto") {
    rises_ = mode_ == "max";
    return;
  }
  const std::string name = name_.rfind("val_", 0) == 0 ? name_.substr(4) : name_;
  const auto* const model = dynamic_cast<const Model*>(&session.module());
  std::optional<bool> rises = direction_in(model, name);
  if (!rises) rises = direction_of(name);
  if (!rises) {
    const std::string nearest = nearest_known(model, name), prefix = name == name_ ? "" : "val_";
    fail<ValueError>(
        "[" + callback_ + "]",
        "mode \"auto\" knows the names of Keras' losses and metrics and the metrics of the compiled model; "
        "got monitor \"{}\", which needs mode \"min\" or \"max\"{}",
        name_, nearest.empty() ? "" : "; nearest known name: \"" + prefix + nearest + "\"");
  }
  rises_ = *rises;
}

bool detail::Monitor::improves(double value, const std::optional<double>& reference) const {
  return detail::beats(rises_ ? value - min_delta_ : value + min_delta_, reference, rises_);
}

std::optional<double> detail::Monitor::value(const Logs& logs, const Session& session, Missing missing) {
  const std::optional<double> found = detail::find_log(logs, name_);
  seen_ = seen_ || found;
  if (found || session.awaits_validation()) return found;
  std::vector<std::string> names;
  for (const auto& entry : logs) names.push_back(entry.first);
  const std::string text = fmt::format("monitor \"{}\" must be a logged number; got {}", name_,
                                       names.empty() ? "no logs" : fmt::format("logs of {}", fmt::join(names, ", ")));
  if (missing == Missing::error || (missing == Missing::error_at_first && !seen_)) {
    fail<ValueError>("[" + callback_ + "]", "{}", text);
  }
  detail::warn(fmt::format("[{}] {}", callback_, text));
  return found;
}

}  // namespace mezzo
