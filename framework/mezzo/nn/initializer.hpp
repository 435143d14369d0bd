#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/any.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Base of what makes initial values of weights.
class Initializer {
 public:
  virtual ~Initializer() = default;

  /// Values of that shape. `key` fixes the random ones: the same key gives the same numbers whatever the dtype, up to
  /// rounding.
  virtual Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const = 0;

  /// The initializer of that Keras name ("glorot_uniform"); a NameError that lists the good ones otherwise.
  static Any<Initializer> from_name(const std::string& name);
};

}  // namespace mezzo
