#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {

/// Sets every element to a number, or the weight to an array: `Constant(3)`, `Constant(embedding_matrix)`.
class MEZZO_API Constant : public Initializer {
 public:
  explicit Constant(double value = 0) : value_(value) {}  ///< the same number for all elements

  /// Copies the array, which must have the shape of the weight.
  explicit Constant(const Tensor& values) : values_(values.owned()) {}

  /// A ShapeError if the array has another shape than the weight; one with one element fits every weight.
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override;
  double value() const { return value_; }                          ///< the number
  const std::optional<Tensor>& values() const { return values_; }  ///< the array, if there is one

 private:
  double value_ = 0;
  std::optional<Tensor> values_;
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
