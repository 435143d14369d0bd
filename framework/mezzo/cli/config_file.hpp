#pragma once
#include <string>
#include <vector>

#include <mezzo/cli/section.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/cli/yaml.hpp>

namespace mezzo::cli {

/// Names of the sections of a configuration.
const std::vector<std::string>& section_names();

/// A configuration, and where the members of a YAML file stand in it.
struct ConfigFile {
  Json json = Json::object();
  std::string path{};
  MemberLines lines{};
};

/// Reads a JSON file, or a YAML file by its suffix .yaml or .yml. A FileError if it can't be read, a UsageError that
/// names the line if it is malformed or no object.
ConfigFile read_config(const std::string& path);

/// Sets members by arguments such as `--trainer.max_epochs 5`, `--data.targets='["y"]'`. A value that isn't JSON is a
/// text. `model.config.layers.1.config.units` counts list items from 0. A UsageError for another form or section.
void apply_overrides(ConfigFile& config, const std::vector<std::string>& arguments);

/// Text of an error with the line of the member that it begins with: `trainer.max_epochs must be ...; c.yaml line 7`.
/// Unchanged if the file has no such member, or no lines.
std::string with_line(const ConfigFile& config, const std::string& text);

/// Returns work(), whose UsageErrors get the lines of their members.
template <class Work>
auto with_lines(const ConfigFile& config, const Work& work) try {
  return work();
} catch (const UsageError& error) {
  throw UsageError(with_line(config, error.what()));
}

}  // namespace mezzo::cli
