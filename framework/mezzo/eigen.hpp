#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

#include <Eigen/Core>

#include <mezzo/core/tensor.hpp>

namespace mezzo {
namespace detail {

/// A matrix or an array of E's kind in row-major order, for elements of tensors.
template <class E>
using EigenRows =
    std::conditional_t<std::is_base_of_v<Eigen::ArrayBase<E>, E>,
                       Eigen::Array<typename E::Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                       Eigen::Matrix<typename E::Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// True if `size` is possible for an axis of Eigen that has `fixed` elements and at most `most`.
constexpr bool fits_eigen(std::int64_t size, int fixed, int most) {
  return (fixed == Eigen::Dynamic || size == fixed) && (most == Eigen::Dynamic || size <= most);
}

}  // namespace detail

/// Makes every expression of Eigen (Matrix, Array, Map, Block, a sum) whose elements are of one of mezzo's dtypes
/// convert to a Tensor, and a Tensor to an Eigen::Matrix or Eigen::Array of the same element type. Elements are copied;
/// row and column are the same in both, also for column-major matrices. Vectors have shape (size,), all others (rows,
/// columns). A tensor of shape (size,) converts to a vector, or to a matrix with one column. A conversion to a type of
/// other sizes or of another rank is a ShapeError.
template <class E>
struct TensorAdapter<
    E, std::enable_if_t<std::is_base_of_v<Eigen::DenseBase<E>, E> && sizeof(DTypeOf<typename E::Scalar>) != 0>> {
  using Element = typename E::Scalar;

  static Tensor to_tensor(const E& array) {
    constexpr bool is_vector = E::IsVectorAtCompileTime != 0;
    Tensor out = Tensor::uninitialized(is_vector ? Shape{array.size()} : Shape{array.rows(), array.cols()},
                                       DTypeOf<Element>::value);
    Eigen::Map<detail::EigenRows<E>>(out.mutable_data<Element>(), array.rows(), array.cols()) = array;
    return out;
  }

  template <class A = E, class = std::enable_if_t<std::is_base_of_v<Eigen::PlainObjectBase<A>, A>>>
  static A from_tensor(const Tensor& tensor) {
    const Shape& shape = tensor.shape();
    const Element* elements = tensor.data<Element>();
    const bool is_row = A::RowsAtCompileTime == 1 && A::ColsAtCompileTime != 1;
    const std::int64_t rows = shape.empty() ? 1 : shape.size() == 1 && is_row ? 1 : shape[0];
    const std::int64_t columns = shape.size() == 2 ? shape[1] : shape.size() == 1 && is_row ? shape[0] : 1;
    if (shape.empty() || shape.size() > 2 || !detail::fits_eigen(rows, A::RowsAtCompileTime, A::MaxRowsAtCompileTime) ||
        !detail::fits_eigen(columns, A::ColsAtCompileTime, A::MaxColsAtCompileTime)) {
      const auto text = [](int size) { return size == Eigen::Dynamic ? std::string("?") : std::to_string(size); };
      throw ShapeError("[Tensor] an Eigen type of " + text(A::RowsAtCompileTime) + " x " + text(A::ColsAtCompileTime) +
                       " elements can't hold " + tensor.describe());
    }
    return Eigen::Map<const detail::EigenRows<A>>(elements, rows, columns);
  }
};

}  // namespace mezzo
