#include <mezzo/cli/onnx_arguments.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include <mezzo/cli/usage_error.hpp>

namespace mezzo::cli {
namespace {

/// The two parts of "left=right"; both must be there.
std::pair<std::string, std::string> parts_of(const std::string& text, const char* option, const char* form) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    fail_usage("{} must be {}; got \"{}\"", option, form, text);
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

/// A number without sign, or nothing.
std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || last != end || number < 0) return {};
  return number;
}

}  // namespace

void OnnxArguments::add_to(CLI::App& command) {
  added_ = {
      command.add_option("--opset", options_.opset, "For .onnx: version of the operators")
          ->check(CLI::Range(17, 22))
          ->capture_default_str(),
      command.add_option("--batch", batch_, "For .onnx: samples that the graph takes, \"dynamic\" or a number")
          ->capture_default_str(),
      command
          .add_option("--dynamic_axes", dynamic_axes_, "For .onnx: a further open size, INPUT.AXIS=NAME; repeatable")
          ->allow_extra_args(false),
      command.add_option("--precision", options_.precision, "For .onnx: float32, without bfloat16 and float16")
          ->check(CLI::IsMember({"float32"})),
      command.add_option("--metadata", metadata_, "For .onnx: KEY=TEXT for the file; repeatable")
          ->allow_extra_args(false),
  };
}

void OnnxArguments::require_none(const std::string& file) const {
  for (const CLI::Option* one : added_) {
    if (one->count() > 0) fail_usage("{} is for .onnx files; got \"{}\"", one->get_name(), file);
  }
}

ExportOnnxOptions OnnxArguments::read() const {
  ExportOnnxOptions options = options_;
  if (batch_ != "dynamic") {
    const std::optional<std::int64_t> batch = number_in(batch_);
    if (!batch || *batch < 1) fail_usage("--batch must be \"dynamic\" or a number, 1 or more; got \"{}\"", batch_);
    options.batch = *batch;
  }
  for (const std::string& text : dynamic_axes_) {
    constexpr const char* form = "INPUT.AXIS=NAME, such as input.1=positions";
    constexpr std::int64_t most_axes = 64;
    const auto [place, name] = parts_of(text, "--dynamic_axes", form);
    const std::size_t dot = place.rfind('.');
    const std::optional<std::int64_t> axis = dot == std::string::npos ? std::nullopt : number_in(place.substr(dot + 1));
    if (!axis || *axis > most_axes || dot == 0) fail_usage("--dynamic_axes must be {}; got \"{}\"", form, text);
    const bool added = options.dynamic_axes[place.substr(0, dot)].emplace(static_cast<int>(*axis), name).second;
    if (!added) fail_usage("--dynamic_axes must name an axis once; got \"{}\" twice", place);
  }
  for (const std::string& text : metadata_) {
    const auto [key, value] = parts_of(text, "--metadata", "KEY=TEXT");
    if (!options.metadata.emplace(key, value).second) {
      fail_usage("--metadata must name a key once; got \"{}\" twice", key);
    }
  }
  return options;
}

}  // namespace mezzo::cli
