#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include <mezzo/cli/section.hpp>

namespace mezzo::cli {

/// "runs/version_N" with the number after the largest one.
std::string next_run_dir();

/// config.json of a run folder during a training. A training that fails before it writes a checkpoint leaves the
/// former config.json, or none: another attempt can use the folder.
class RunConfig {
 public:
  /// Makes the folder and writes the file. A FileError if it can't.
  RunConfig(const Json& config, const std::string& run_dir);
  ~RunConfig();
  RunConfig(const RunConfig&) = delete;
  RunConfig& operator=(const RunConfig&) = delete;

  /// The training has succeeded.
  void keep() { kept_ = true; }

 private:
  /// Writes config.json whole, or not at all. A FileError if it can't.
  void write(const std::string& text) const;

  std::filesystem::path folder_;
  std::optional<std::string> former_;
  std::filesystem::file_time_type newest_checkpoint_;
  bool kept_ = false;
};

}  // namespace mezzo::cli
