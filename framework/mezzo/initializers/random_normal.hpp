#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

struct RandomNormalOptions {
  double mean = 0;       ///< mean of the distribution
  double stddev = 0.05;  ///< standard deviation, at least 0
};

/// Draws from a normal distribution.
class MEZZO_API RandomNormal : public Initializer {
 public:
  /// A ValueError for a negative stddev.
  explicit RandomNormal(RandomNormalOptions options = {});
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

 private:
  RandomNormalOptions options_;
};

}  // namespace mezzo
