#pragma once
#include <optional>
#include <string>

#include <mezzo/training/module/callback_state.hpp>
#include <mezzo/training/module/hyperparameters.hpp>

namespace mezzo::detail {

/// Reads the hyperparameters and values that a file keeps of its module, for Module::load_from_checkpoint.
/// training/checkpoints defines the format of the files, so mezzo/registration.cpp passes its functions to this folder.
struct HyperparameterReader {
  /// Hyperparameters of a checkpoint. A FileError if the file is malformed or not a checkpoint.
  Hyperparameters (*read)(const std::string& path);
  /// False for a file without hyperparameters, which may be a weight file.
  bool (*has)(const std::string& path);
  /// Values that the module's on_save_checkpoint() has added; none for files without, which may be weight files.
  std::optional<CallbackState> (*values)(const std::string& path);
};

void register_hyperparameter_reader(const HyperparameterReader& reader);

/// True if the file at `path` has hyperparameters.
bool has_saved_hyperparameters(const std::string& path);

/// Values that the file at `path` keeps for on_load_checkpoint() of its module.
std::optional<CallbackState> saved_module_values(const std::string& path);

}  // namespace mezzo::detail
