#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

/// Identity matrix times `gain`, with zeros around it if the weight isn't square. Keras' initializers.Identity.
class MEZZO_API IdentityInitializer : public Initializer {
 public:
  explicit IdentityInitializer(double gain = 1) : gain_(gain) {}  ///< gain: factor of the ones on the diagonal

  /// A ShapeError for a weight that isn't a matrix.
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

  /// Factor of the matrix.
  double gain() const { return gain_; }

 private:
  double gain_;
};

namespace initializers {
using Identity = IdentityInitializer;
}

}  // namespace mezzo
