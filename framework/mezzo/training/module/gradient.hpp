#pragma once
#include <string>
#include <vector>

#include <mezzo/graph/value.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo {

/// A gradient of a training step, as hooks of a module see it.
struct Gradient {
  std::string path;  ///< of the weight in the module
  Variable weight;   ///< the weight
  Value value;       ///< shape of the weight
};
using Gradients = std::vector<Gradient>;

}  // namespace mezzo
