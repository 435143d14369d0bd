#pragma once
#include <string>
#include <vector>

#include <mezzo/graph/value.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo::detail {

/// Name, dtype and shape of an input or output. Open sizes are -1.
struct Port {
  std::string name;
  Spec spec;
};

/// Inputs and outputs of a model, as callers of the C interface see them.
struct Signature {
  std::vector<Port> inputs, outputs;
  std::string unknown;  ///< reason if they are not known; "" if they are

  /// Traces the model's inference for some sizes of the open axes. `inputs`: those that a file declares, in place of
  /// those of the model.
  static Signature of(Model& model, std::vector<Spec> inputs = {});
};

}  // namespace mezzo::detail
