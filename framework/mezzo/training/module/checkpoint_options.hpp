#pragma once
#include <optional>

#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// Options of Trainer::save_checkpoint.
struct CheckpointOptions {
  /// Dtype of the stored weights, floating. Not given: float32, or float64 for float64 weights. A narrower dtype rounds
  /// them; one warning reports the largest error. Weights that no policy narrows (batch normalization) keep their
  /// dtype.
  std::optional<DType> dtype{};
};

}  // namespace mezzo
