#include <mezzo/training/loggers/json_logger.hpp>

#include <cmath>
#include <type_traits>
#include <variant>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/append_file.hpp>
#include <mezzo/training/loggers/log_text.hpp>
#include <nlohmann/json.hpp>

namespace mezzo::loggers {
namespace {

const char* const json_label = "[loggers::JSONLogger]";
using Json = nlohmann::ordered_json;

Json json_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

/// A number of that name; epochs are integers.
Json json_of(const std::string& name, double number) {
  constexpr double largest = 0x1p53;
  const bool counts = name == "epoch" && std::floor(number) == number && std::abs(number) <= largest;
  return counts ? Json(static_cast<std::int64_t>(number)) : json_of(number);
}

Json json_of(const Hyperparameter& param) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<decltype(value), const double&>) return json_of(value);
        return value;
      },
      param.value());
}

}  // namespace

struct JSONLogger::State {
  detail::RunFolder folder;
  JSONLoggerOptions options;
  std::unique_ptr<detail::AppendFile> file{};

  void write(const Json& line) {
    if (!file) file = std::make_unique<detail::AppendFile>(folder.file("metrics.jsonl"), json_label, true);
    file->write(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
};

JSONLogger::JSONLogger(const std::string& save_dir, const JSONLoggerOptions& options)
    : state_(std::make_shared<State>(
          State{.folder = {json_label, save_dir, options.name, options.version}, .options = options})) {}

void JSONLogger::log_metrics(const Logs& metrics, std::int64_t step) {
  if (metrics.empty()) return;
  Json line{{"step", step}};
  for (const auto& [name, number] : metrics) {
    const std::string key = detail::prefixed(state_->options.prefix, name);
    if (key == "step") fail<ValueError>(json_label, "names of numbers must not be \"step\", the key of steps");
    line[key] = json_of(name, number);
  }
  state_->write(line);
}

void JSONLogger::log_hyperparams(const Hyperparameters& params) {
  Json values = Json::object();
  for (const auto& [name, value] : params) values[name] = json_of(value);
  state_->write({{"hyperparameters", values}});
}

std::string JSONLogger::log_dir() const { return state_->folder.path(); }

std::string JSONLogger::version() const { return state_->folder.version(); }

void JSONLogger::finalize(const std::string&) { state_->file.reset(); }

}  // namespace mezzo::loggers
