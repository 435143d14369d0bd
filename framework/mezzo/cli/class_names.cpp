#include <mezzo/cli/class_names.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <mezzo/core/error.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/training/loggers/log_text.hpp>

namespace mezzo::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* file_name = "class_names.json";

std::string path_in(const std::string& run_dir) { return (std::filesystem::path(run_dir) / file_name).string(); }

std::string label_of(const std::string& run_dir) { return fmt::format("[run folder \"{}\"] {}", run_dir, file_name); }

}  // namespace

void write_class_names(const std::string& run_dir, const std::vector<std::string>& names) {
  if (names.empty()) {  // those of an earlier training on pictures
    std::error_code error;
    std::filesystem::remove(path_in(run_dir), error);
    if (error) fail<FileError>(label_of(run_dir), "can't be removed: {}", error.message());
    return;
  }
  // Names of folders may have bytes that are no UTF-8.
  const std::string text = Json(names).dump(2, ' ', false, Json::error_handler_t::replace);
  detail::replace_file(path_in(run_dir), text + "\n", label_of(run_dir));
}

std::vector<std::string> read_class_names(const std::string& run_dir) {
  std::ifstream file(path_in(run_dir), std::ios::binary);
  if (!file) return {};
  const Json json = Json::parse(std::string{std::istreambuf_iterator<char>(file), {}}, nullptr, false);
  const auto is_text = [](const Json& name) { return name.is_string(); };
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), is_text)) {
    throw FileError(label_of(run_dir) + " must be a list of texts");
  }
  return json.get<std::vector<std::string>>();
}

bool has_scores(const Tensor& outputs, const std::vector<std::string>& names) {
  const Shape& shape = outputs.shape();
  return names.size() > 1 && shape.size() == 2 && shape[1] == static_cast<std::int64_t>(names.size());
}

std::vector<std::size_t> best_classes(const Tensor& scores) {
  const std::vector<double> all = scores.to_doubles();
  const auto classes = static_cast<std::ptrdiff_t>(scores.shape()[1]);
  std::vector<std::size_t> best;
  for (auto row = all.begin(); row != all.end(); row += classes) {
    if (std::any_of(row, row + classes, [](double score) { return std::isnan(score); })) {
      fail<ValueError>("[predict]", "scores of classes must be numbers; got NaN for sample {}", best.size());
    }
    best.push_back(static_cast<std::size_t>(std::max_element(row, row + classes) - row));
  }
  return best;
}

void write_labels(const std::string& path, const Tensor& scores, const std::vector<std::size_t>& best,
                  const std::vector<std::string>& names, const std::vector<std::string>& files) {
  std::string text = files.empty() ? "label" : "file,label";
  for (const std::string& name : names) text += "," + detail::csv_field(name);
  text += "\n";
  const std::vector<double> numbers = scores.to_doubles();
  const bool wide = scores.dtype() == DType::float64;  // narrower floats have a shorter text as float32
  auto score = numbers.begin();
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (!files.empty()) text += detail::csv_field(files[i]) + ",";
    text += detail::csv_field(names[best[i]]);
    for (std::size_t c = 0; c < names.size(); ++c, ++score) {
      text += wide ? fmt::format(",{}", *score) : fmt::format(",{}", static_cast<float>(*score));
    }
    text += "\n";
  }
  detail::replace_file(path, text, fmt::format("[predict \"{}\"]", path));
}

}  // namespace mezzo::cli
