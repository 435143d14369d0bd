#pragma once
#include <string>
#include <vector>

#include <mezzo/graph/value.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo {

/// Gradient by a weight: one of value_and_grad(), or of a training step, as hooks of a module see it.
struct Gradient {
  std::string path;  ///< of the weight in the model; the name of a variable that is given alone
  Variable weight;   ///< the weight
  Value value;       ///< shape of the weight; undefined: value_and_grad() found no use of the weight
};
using Gradients = std::vector<Gradient>;  ///< in the order of the weights

}  // namespace mezzo
