#pragma once

namespace mezzo {

/// Options of Model::explain.
struct ExplainOptions {
  bool declined = false;  ///< adds the kernels that were not chosen, with the reason
  bool profile = false;   ///< adds times and rates; implies `declined`
};

}  // namespace mezzo
