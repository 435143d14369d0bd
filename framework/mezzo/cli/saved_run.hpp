#pragma once
#include <functional>
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
  std::string precision;  ///< policy; "": trainer.precision of the configuration, or else that of the file
  bool labels = true;     ///< false: pictures may lie in the folder itself, without classes
};

/// Model and data of the options.
struct SavedRun {
  Any<Model> model;
  DataLoader loader;
  std::string part;
  std::string precision;             ///< policy that replaces the file's; "": none
  std::vector<std::string> files{};  ///< file of each sample, for a folder of pictures
};

/// Opens them. Of the configuration the section "data" is read, which `overrides` change, and trainer.precision.
SavedRun open_run(const SavedRunOptions& options, const Overrides& overrides);

/// Adds the options to a subcommand.
void add_run_options(CLI::App& command, SavedRunOptions& options);

/// A --precision; "" is no precision. A UsageError for an unknown name and for "auto".
Precision precision_of(const std::string& precision);

/// model.mezzo of a run folder; another path as it is. A FileError for a folder without that file.
std::string model_file_of(const std::string& path);

/// Model of a file, or of a run folder. A precision of "" is that of the file.
Any<Model> open_model(const std::string& path, const std::string& precision);

/// Model of `make(policy)` with the policy that a --precision means for it, as in a Trainer. "int8-mixed" depends on
/// the layers of a model with weights, so `make` is called twice for it.
Any<Model> with_precision(const std::string& precision, const std::function<Any<Model>(const Policy&)>& make);

/// True if a name before the suffix, such as ".npz", is there.
bool ends_in(const std::string& path, const std::string& suffix);

}  // namespace mezzo::cli
