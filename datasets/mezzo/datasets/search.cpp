#include <mezzo/datasets/search.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/unknown_variables.hpp>
#include <mezzo/io/check_path.hpp>

namespace mezzo::datasets::detail {
namespace {

namespace fs = std::filesystem;

/// The folders to search, in order.
std::vector<fs::path> places(const std::string& name, const std::string& root, const std::vector<std::string>& also) {
  if (!root.empty()) return {root, fs::path(root) / name};
  std::vector<fs::path> places;
  for (const std::string& folder : data_folders()) places.push_back(fs::path(folder) / name);
  places.insert(places.end(), also.begin(), also.end());
  return places;
}

std::optional<fs::path> find_file(const fs::path& folder, const std::string& file) {
  for (const char* ending : {".gz", ""}) {
    std::error_code ignored;
    const fs::path path = folder / (file + ending);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> data_folders() {
  std::vector<std::string> folders;
  const char* const given = std::getenv(mezzo::detail::environment_variables::data);
  if (given != nullptr && *given != '\0') folders.emplace_back(given);
  folders.insert(folders.end(), {"/usr/local/share/datasets", "/usr/share/datasets"});
  return folders;
}

std::string find_folder(const std::string& name, const std::string& root, const std::string& file,
                        const std::string& hint, const std::vector<std::string>& also) {
  mezzo::detail::warn_of_unknown_variables();
  if (!root.empty()) mezzo::detail::require_directory(root, fmt::format("[{}] root", name));
  std::vector<std::string> searched;
  for (const fs::path& place : places(name, root, also)) {
    if (find_file(place, file)) return place.string();
    searched.push_back(place.string());
  }
  fail<FileError>(fmt::format("[{}]", name), "\"{}\", with or without .gz, must be in one of: {}{}{}", file,
                  fmt::join(searched, ", "), hint.empty() ? "" : "; ", hint);
}

std::string require_file(const std::string& folder, const std::string& file) {
  if (const auto path = find_file(folder, file)) return path->string();
  fail<FileError>("[datasets]", "\"{}\", with or without .gz: no such file or directory",
                  (fs::path(folder) / file).string());
}

}  // namespace mezzo::datasets::detail
