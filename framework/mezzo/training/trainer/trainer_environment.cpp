#include <mezzo/training/trainer/trainer_environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <vector>

#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/distributed/strategy.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/training/loops/limits.hpp>
#include <mezzo/training/module/logger.hpp>
#include <mezzo/training/module/profiler.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* prefix = environment_variables::trainer_prefix;

/// Options that have a variable.
const std::vector<std::string>& names() {
  static const std::vector<std::string> all{"max_epochs",
                                            "max_steps",
                                            "max_time",
                                            "min_epochs",
                                            "min_steps",
                                            "limit_train_batches",
                                            "limit_val_batches",
                                            "limit_test_batches",
                                            "limit_predict_batches",
                                            "reload_dataloaders_every_n_epochs",
                                            "overfit_batches",
                                            "fast_dev_run",
                                            "val_check_interval",
                                            "precision",
                                            "strategy",
                                            "shard_optimizer_states",
                                            "gradient_compression",
                                            "sync_batchnorm",
                                            "logger",
                                            "check_val_every_n_epoch",
                                            "profiler",
                                            "log_every_n_steps",
                                            "num_sanity_val_steps",
                                            "eager",
                                            "enable_progress_bar",
                                            "accumulate_grad_batches",
                                            "barebones",
                                            "default_root_dir",
                                            "gradient_clip_val",
                                            "deterministic",
                                            "detect_anomaly",
                                            "gradient_clip_algorithm",
                                            "adaptive_threads",
                                            "float32_winograd",
                                            "float32_matmul_precision",
                                            "enable_checkpointing",
                                            "enable_model_summary"};
  return all;
}

std::string variable_of(std::string option) {
  std::transform(option.begin(), option.end(), option.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return prefix + option;
}

/// The whole text as a number, if it is one.
std::optional<double> number_of(const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  double number = 0;
  return in >> number && in.peek() == std::istringstream::traits_type::eof() ? std::optional<double>(number)
                                                                             : std::nullopt;
}

/// The text as a bool, if it is one.
std::optional<bool> as_bool(const std::string& text) {
  if (text == "1" || text == "true" || text == "True") return true;
  if (text == "0" || text == "false" || text == "False") return false;
  return std::nullopt;
}

bool has_point(const std::string& text) { return text.find_first_of(".eE") != std::string::npos; }

}  // namespace

FromEnvironment::FromEnvironment(const char* option) : option_(option) {
  const char* value = std::getenv(variable_of(option).c_str());
  if (value != nullptr) text_ = value;
}

void FromEnvironment::refuse(const char* form) const {
  fail<ValueError>("[Trainer]", "{} must be {}; got \"{}\"", variable_of(option_), form, *text_);
}

template <class T>
T FromEnvironment::whole_number() const {
  const std::optional<double> number = number_of(*text_);
  constexpr double most = sizeof(T) == 8 ? 9e15 : static_cast<double>(std::numeric_limits<int>::max());
  if (!number || *number != std::floor(*number) || std::abs(*number) > most) refuse("a whole number");
  return static_cast<T>(*number);
}

template <>
bool FromEnvironment::parse<bool>() const {
  if (const auto flag = as_bool(*text_)) return *flag;
  refuse("true, false, 1 or 0");
}

template <>
int FromEnvironment::parse<int>() const {
  if (const auto flag = as_bool(*text_)) return *flag ? 1 : 0;
  return whole_number<int>();
}

template <>
std::int64_t FromEnvironment::parse<std::int64_t>() const {
  return whole_number<std::int64_t>();
}

template <>
double FromEnvironment::parse<double>() const {
  const std::optional<double> number = number_of(*text_);
  if (!number) refuse("a number");
  return *number;
}

template <>
std::string FromEnvironment::parse<std::string>() const {
  return *text_;
}

template <>
BatchLimit FromEnvironment::parse<BatchLimit>() const {
  return has_point(*text_) ? BatchLimit(parse<double>()) : BatchLimit(parse<std::int64_t>());
}

template <>
Duration FromEnvironment::parse<Duration>() const {
  return text_->find(':') != std::string::npos ? Duration(*text_) : Duration(parse<double>());
}

template <>
CheckInterval FromEnvironment::parse<CheckInterval>() const {
  if (text_->find(':') != std::string::npos) return *text_;
  return has_point(*text_) ? CheckInterval(parse<double>()) : CheckInterval(parse<std::int64_t>());
}

template <>
Precision FromEnvironment::parse<Precision>() const {
  return *text_;
}

template <>
Strategy FromEnvironment::parse<Strategy>() const {
  return *text_;
}

/// Names, separated by commas, or a bool.
template <>
Loggers FromEnvironment::parse<Loggers>() const {
  if (const auto flag = as_bool(*text_)) return *flag;
  Loggers loggers;
  std::istringstream in(*text_);
  for (std::string name; std::getline(in, name, ',');) loggers.emplace_back(name);
  return loggers;
}

template <>
Any<Profiler> FromEnvironment::parse<Any<Profiler>>() const {
  return *text_;
}

void check_trainer_environment() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.rfind(prefix, 0) != 0) continue;
    const std::string variable = text.substr(0, text.find('='));
    std::vector<std::string> variables;
    for (const std::string& name : names()) variables.push_back(variable_of(name));
    if (std::find(variables.begin(), variables.end(), variable) != variables.end()) continue;
    std::sort(variables.begin(), variables.end());
    fail_unknown("[Trainer]", "environment variable", variable, variables);
  }
}

}  // namespace mezzo::detail
