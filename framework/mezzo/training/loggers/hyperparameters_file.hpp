#pragma once
#include <string>

#include <mezzo/training/module/hyperparameters.hpp>

namespace mezzo::detail {

/// Replaces hyperparameters of the same name, and adds the others.
void merge(Hyperparameters& into, const Hyperparameters& params);

/// Writes hyperparameters as YAML, a line each. A FileError that starts with `where` if that fails.
void write_yaml(const std::string& path, const std::string& where, const Hyperparameters& params);

}  // namespace mezzo::detail
