#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/core/unmoved.hpp>

namespace mezzo {

/// Base of initializers: functions that make the initial values of weights.
class MEZZO_API Initializer : public detail::MoveChecked {
 public:
  /// Returns initial values. `key` is the seed of random values: the same key gives the same numbers in every dtype, up
  /// to rounding.
  virtual Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const = 0;

  /// The initializer of that Keras name ("glorot_uniform") with its default options. A NameError lists the valid names.
  static Any<Initializer> from_name(const std::string& name);
};

}  // namespace mezzo
