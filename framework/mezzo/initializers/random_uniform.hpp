#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

struct RandomUniformOptions {
  double minval = -0.05;                ///< lower end of the interval, included
  double maxval = 0.05;                 ///< upper end of the interval, excluded; at least minval
  std::optional<std::uint64_t> seed{};  ///< fixes the numbers; default: from seed_everything()
};

/// Draws from the uniform distribution over [minval, maxval).
class MEZZO_API RandomUniform : public Initializer {
 public:
  /// A ValueError if maxval is below minval.
  explicit RandomUniform(RandomUniformOptions options = {});
  RandomUniform(double minval, double maxval) : RandomUniform(RandomUniformOptions{minval, maxval, {}}) {}
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

  /// Returns the options given to the constructor.
  const RandomUniformOptions& options() const { return options_; }

 private:
  RandomUniformOptions options_;
};

}  // namespace mezzo
