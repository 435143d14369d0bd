#pragma once
#include <string>
#include <utility>
#include <vector>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo::detail {

/// Replacements in names, as in LoadWeightsOptions::rename.
using NameRules = std::vector<std::pair<std::string, std::string>>;

/// Rules for two ways of writing the same names.
struct TwoWayRules {
  NameRules read;     ///< from names in a folder to torchvision's
  NameRules written;  ///< back

  /// Adds the beginnings of names, as texts. `$` in `folder` and `torchvision` stands for a number.
  void add(const std::string& folder, const std::string& torchvision);
};

/// Tensors with those that torch has beside running_var: num_batches_tracked, 0.
NamedTensors with_batch_counts(NamedTensors tensors);

}  // namespace mezzo::detail
