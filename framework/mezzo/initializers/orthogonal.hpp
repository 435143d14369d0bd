#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

struct OrthogonalOptions {
  double gain = 1;                      ///< factor of the matrix
  std::optional<std::uint64_t> seed{};  ///< fixes the numbers; default: from seed_everything()
};

/// Orthogonal matrix times `gain` (Saxe et al., 2014). The weight (..., n) is treated as a matrix of n columns. Its
/// columns are orthonormal, or its rows if there are fewer rows than columns. Uniformly distributed: the factor Q of a
/// matrix of normal numbers, with the signs of R's diagonal.
class MEZZO_API Orthogonal : public Initializer {
 public:
  explicit Orthogonal(OrthogonalOptions options = {}) : options_(options) {}
  explicit Orthogonal(double gain) : options_{gain, {}} {}  ///< gain: factor of the orthogonal matrix

  /// A ShapeError for a weight of fewer than two axes.
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

  /// Returns the options given to the constructor.
  const OrthogonalOptions& options() const { return options_; }

 private:
  OrthogonalOptions options_;
};
using OrthogonalInitializer = Orthogonal;

}  // namespace mezzo
