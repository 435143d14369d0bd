#pragma once
#include <cstddef>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// One of the module's optimizers, inside a training step.
class MEZZO_API OptimizerHandle {
 public:
  explicit OptimizerHandle(std::size_t index) : index_(index) {}  ///< index: place in configure_optimizers(), from 0

  /// Position in the result of configure_optimizers().
  std::size_t index() const { return index_; }

 private:
  std::size_t index_;
};

}  // namespace mezzo
