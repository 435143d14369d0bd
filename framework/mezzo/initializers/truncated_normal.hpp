#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

struct TruncatedNormalOptions {
  double mean = 0;                      ///< mean of the distribution
  double stddev = 0.05;                 ///< standard deviation before truncation, at least 0
  std::optional<std::uint64_t> seed{};  ///< fixes the numbers; default: from seed_everything()
};

/// Draws from a normal distribution and redraws numbers that are more than two stddev from the mean. The standard
/// deviation of the result is 0.88 stddev, as in Keras.
class MEZZO_API TruncatedNormal : public Initializer {
 public:
  /// A ValueError for a negative stddev.
  explicit TruncatedNormal(TruncatedNormalOptions options = {});
  TruncatedNormal(double mean, double stddev) : TruncatedNormal(TruncatedNormalOptions{mean, stddev, {}}) {}
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

  /// Returns the options given to the constructor.
  const TruncatedNormalOptions& options() const { return options_; }

 private:
  TruncatedNormalOptions options_;
};

}  // namespace mezzo
