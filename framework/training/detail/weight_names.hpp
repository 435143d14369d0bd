#pragma once
#include <string>
#include <vector>

#include <mezzo/model/layer.hpp>

namespace mezzo::detail {

/// A weight as weight files have it.
struct FileWeight {
  std::vector<std::string> names;  ///< the one that is written; then others under which a file may hold it
  Variable variable;
  Shape axes;    ///< the variable's, in the file's order
  Shape merged;  ///< the shape in the file where it merges axes, else {}

  const std::string& name() const { return names.front(); }
  Shape shape() const { return merged.empty() ? permuted_shape() : merged; }
  /// The variable's shape, its axes in the file's order.
  Shape permuted_shape() const;
};

struct FileWeights {
  std::vector<FileWeight> weights;   ///< each variable once
  std::vector<std::string> skipped;  ///< names of tensors that are no weights, but may be there
};

/// What weight files have of a layer: by its own and its sub-layers' declarations.
FileWeights file_weights(const LayerState& layer);

}  // namespace mezzo::detail
