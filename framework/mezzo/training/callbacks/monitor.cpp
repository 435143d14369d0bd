#include <mezzo/training/callbacks/monitor.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/loops/means.hpp>

namespace mezzo {
namespace {

// Names of Keras' metrics, with their short forms, by the direction that Keras gives their classes.
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

}  // namespace

Monitor::Monitor(std::string callback, std::string name, std::string mode, double min_delta)
    : callback_(std::move(callback)), name_(std::move(name)), mode_(std::move(mode)), min_delta_(std::abs(min_delta)) {
  if (mode_ != "auto" && mode_ != "min" && mode_ != "max") {
    fail_unknown("[" + callback_ + "]", "mode", mode_, std::vector<std::string>{"auto", "min", "max"});
  }
}

void Monitor::resolve() {
  const std::string name = name_.rfind("val_", 0) == 0 ? name_.substr(4) : name_;
  if (mode_ != "auto") {
    rises_ = mode_ == "max";
  } else if (has(falling, name)) {
    rises_ = false;
  } else if (has(rising, name)) {
    rises_ = true;
  } else {
    fail<ValueError>("[" + callback_ + "]",
                     "mode \"auto\" knows the names of Keras' losses and metrics; got monitor \"{}\", which needs mode "
                     "\"min\" or \"max\"",
                     name_);
  }
}

bool Monitor::improves(double value, const std::optional<double>& reference) const {
  if (!reference) return true;
  return rises_ ? value - min_delta_ > *reference : value + min_delta_ < *reference;
}

std::optional<double> Monitor::value(const Logs& logs, bool required) const {
  const std::optional<double> found = detail::find_log(logs, name_);
  if (found) return found;
  std::vector<std::string> names;
  for (const auto& entry : logs) names.push_back(entry.first);
  const std::string text = fmt::format("monitor \"{}\" must be a logged number; got {}", name_,
                                       names.empty() ? "no logs" : fmt::format("logs of {}", fmt::join(names, ", ")));
  if (required) fail<ValueError>("[" + callback_ + "]", "{}", text);
  warn(fmt::format("[{}] {}", callback_, text));
  return found;
}

}  // namespace mezzo
