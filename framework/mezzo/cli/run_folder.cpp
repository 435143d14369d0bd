#include <mezzo/cli/run_folder.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include <mezzo/core/error.hpp>
#include <mezzo/io/file_replacement.hpp>

namespace mezzo::cli {

namespace fs = std::filesystem;

namespace {

/// Time of the newest file in the folder's checkpoints; the smallest time if there is none.
fs::file_time_type newest_checkpoint(const fs::path& folder) {
  fs::file_time_type newest = fs::file_time_type::min();
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "checkpoints", ignored)) {
    newest = std::max(newest, entry.last_write_time(ignored));
  }
  return newest;
}

}  // namespace

std::string next_run_dir() {
  int next = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("runs", ignored)) {
    int number = 0;
    char rest = 0;
    const std::string name = entry.path().filename().string();
    if (std::sscanf(name.c_str(), "version_%9d%c", &number, &rest) == 1) next = std::max(next, number + 1);
  }
  return fmt::format("runs/version_{}", next);
}

RunConfig::RunConfig(const Json& config, const std::string& run_dir)
    : folder_(run_dir), newest_checkpoint_(newest_checkpoint(folder_)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw FileError(fmt::format("[run folder \"{}\"] can't be made: {}", run_dir, error.message()));
  if (std::ifstream old(folder_ / "config.json", std::ios::binary); old) {
    former_ = std::string(std::istreambuf_iterator<char>(old), {});
  }
  write(config.dump(2) + "\n");
}

void RunConfig::write(const std::string& text) const {
  detail::replace_file((folder_ / "config.json").string(), text,
                       fmt::format("[run folder \"{}\"] config.json", folder_.string()));
}

RunConfig::~RunConfig() {
  if (kept_ || newest_checkpoint(folder_) != newest_checkpoint_) return;
  std::error_code ignored;
  if (former_) {
    try {
      write(*former_);
    } catch (const Error&) {  // the error that ends the training is the one to report
    }
  } else {
    fs::remove(folder_ / "config.json", ignored);
    fs::remove(folder_ / "logs", ignored);  // if it is empty, and so is the run folder
    fs::remove(folder_, ignored);
  }
}

}  // namespace mezzo::cli
