#pragma once
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

struct TruncatedNormalOptions {
  double mean = 0;
  double stddev = 0.05;
};

/// Normally distributed, with what lies more than two stddev from the mean drawn anew; so the deviation of the
/// result is 0.88 stddev, as in Keras.
class TruncatedNormal : public Initializer {
 public:
  /// A ValueError for a negative stddev.
  explicit TruncatedNormal(TruncatedNormalOptions options = {});
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

 private:
  TruncatedNormalOptions options_;
};

}  // namespace mezzo
