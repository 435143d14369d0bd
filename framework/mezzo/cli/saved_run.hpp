#pragma once
#include <string>

#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/data_section.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::cli {

/// Options that evaluate and predict share.
struct SavedRunOptions {
  std::string model;      ///< a run folder of `mezzo train`, or a model file
  std::string config;     ///< configuration of the data; "": that of the run folder
  std::string part;       ///< "train", "val" or "test"; "": test, or val if there is none
  std::string precision;  ///< policy; "": that of the file
};

/// Model and data of the options.
struct SavedRun {
  Any<Model> model;
  DataLoader loader;
  std::string part;
};

/// Opens them. Of the configuration only the section "data" is read, which `overrides` change.
SavedRun open_run(const SavedRunOptions& options, const Overrides& overrides);

/// Adds the options to a subcommand.
void add_run_options(CLI::App& command, SavedRunOptions& options);

/// Policy of a --precision; "" is that of the file. A UsageError for an unknown name and for "auto".
Policy policy_of(const std::string& precision);

/// Model of a file, or of a run folder. A precision of "" is that of the file.
Any<Model> open_model(const std::string& path, const std::string& precision);

/// True if a name before the suffix, such as ".npz", is there.
bool ends_in(const std::string& path, const std::string& suffix);

}  // namespace mezzo::cli
