#pragma once
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

/// Sets every element to `value`.
class Constant : public Initializer {
 public:
  explicit Constant(double value = 0) : value_(value) {}
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;

 private:
  double value_;
};

/// Sets every element to 0.
class Zeros : public Constant {
 public:
  Zeros() : Constant(0) {}
};

/// Sets every element to 1.
class Ones : public Constant {
 public:
  Ones() : Constant(1) {}
};

}  // namespace mezzo
