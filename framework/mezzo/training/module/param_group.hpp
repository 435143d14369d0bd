#pragma once
#include <string>
#include <vector>

#include <mezzo/nn/variable.hpp>

namespace mezzo {

/// Weights with a learning rate of their own.
struct ParamGroup {
  std::string optimizer{};          ///< its name in configure_optimizers(); "": the only one
  std::vector<Variable> weights{};  ///< in no other group
  double learning_rate = 0;         ///< at least 0; replaces that of the optimizer
};

}  // namespace mezzo
