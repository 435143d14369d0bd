#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

struct RandomNormalOptions {
  double mean = 0;                      ///< mean of the distribution
  double stddev = 0.05;                 ///< standard deviation, at least 0
  std::optional<std::uint64_t> seed{};  ///< fixes the numbers; default: from seed_everything()
};

/// Draws from a normal distribution.
class MEZZO_API RandomNormal : public Initializer {
 public:
  /// A ValueError for a negative stddev.
  explicit RandomNormal(RandomNormalOptions options = {});
  RandomNormal(double mean, double stddev) : RandomNormal(RandomNormalOptions{mean, stddev, {}}) {}
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

  /// Returns the options given to the constructor.
  const RandomNormalOptions& options() const { return options_; }

 private:
  RandomNormalOptions options_;
};

}  // namespace mezzo
