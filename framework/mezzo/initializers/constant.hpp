#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

/// Sets every element to `value`.
class MEZZO_API Constant : public Initializer {
 public:
  explicit Constant(double value = 0) : value_(value) {}
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

 private:
  double value_;
};

/// Sets every element to 0.
class MEZZO_API Zeros : public Constant {
 public:
  Zeros() : Constant(0) {}
};

/// Sets every element to 1.
class MEZZO_API Ones : public Constant {
 public:
  Ones() : Constant(1) {}
};

}  // namespace mezzo
