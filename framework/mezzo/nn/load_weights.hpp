#pragma once
#include <string>
#include <utility>
#include <vector>

namespace mezzo {

/// Options of Layer::load_weights. Names of tensors are changed before they are compared with those of the layer: first
/// `strip_prefixes`, then `rename`. Names of a checkpoint of mezzo are those of its weights, without "model.".
struct LoadWeightsOptions {
  /// True: skips tensors of another shape, with one warning that lists them. In an HDF5 file of Keras, skips layers
  /// whose arrays don't all fit, and arrays that no layer reads.
  bool skip_mismatch = false;
  /// False: loads the tensors that fit and skips all others; the report lists these. A file that is malformed, or that
  /// has no tensor that fits, is an error all the same.
  bool strict = true;
  /// Replacements in names, each a regular expression of RE2 and a text, applied in order to every match:
  /// `{{"^encoder\\.layer\\.(\\d+)", "blocks.$1"}}`. "$1" to "$9" are the groups.
  std::vector<std::pair<std::string, std::string>> rename{};
  /// Prefixes that are removed from names that have them, in any order, as often as they occur. Wrappers add
  /// "module." (torch's DataParallel), "_orig_mod." (torch.compile) and "model." (a member of a LightningModule).
  std::vector<std::string> strip_prefixes{};
};

/// Result of Layer::load_weights: names that did not fit. All lists are empty after a strict load. In an HDF5 file of
/// Keras they are paths of arrays: "layers/dense/vars/0".
struct LoadWeightsReport {
  std::vector<std::string> missing_keys{};     ///< names of weights that the file lacks; these keep their numbers
  std::vector<std::string> unexpected_keys{};  ///< names in the file that the layer lacks, after `rename`
  std::vector<std::string> mismatched_keys{};  ///< names of weights whose tensor has another shape or dtype
  /// True if the layer is not built: the file is kept until its first call or step. What does not fit is an error then,
  /// or without `strict` a warning, and names the file.
  bool waiting = false;
};

}  // namespace mezzo
