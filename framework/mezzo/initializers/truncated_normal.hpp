#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

struct TruncatedNormalOptions {
  double mean = 0;       ///< mean of the distribution
  double stddev = 0.05;  ///< standard deviation before truncation, at least 0
};

/// Draws from a normal distribution and redraws numbers that are more than two stddev from the mean. The standard
/// deviation of the result is 0.88 stddev, as in Keras.
class MEZZO_API TruncatedNormal : public Initializer {
 public:
  /// A ValueError for a negative stddev.
  explicit TruncatedNormal(TruncatedNormalOptions options = {});
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

 private:
  TruncatedNormalOptions options_;
};

}  // namespace mezzo
