#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>

#include <mezzo/core/shape.hpp>
#include <mezzo/core/tensor.hpp>

/// Strides of xt::adapt(..., tensor.shape()).
template <class X>
struct xt::rebind_container<X, mezzo::Shape> : xt::rebind_container<X, std::vector<std::int64_t>> {};

namespace mezzo {
namespace detail {

constexpr int any_rank = -1;

/// The rank of an xtensor container; -2 for other types.
template <class E>
constexpr int xtensor_rank = -2;
template <class S, xt::layout_type L, class C, class Tag>
constexpr int xtensor_rank<xt::xarray_container<S, L, C, Tag>> = any_rank;
template <class S, std::size_t N, xt::layout_type L, class Tag>
constexpr int xtensor_rank<xt::xtensor_container<S, N, L, Tag>> = static_cast<int>(N);

}  // namespace detail

/// Makes every xtensor expression (xt::xarray, xt::xtensor, a view, a sum) whose elements are of one of mezzo's dtypes
/// convert to a Tensor, and a Tensor to an xt::xarray or xt::xtensor of the same element type. Elements are copied, in
/// row-major order. A conversion to an xt::xtensor of another rank is a ShapeError.
template <class E>
struct TensorAdapter<
    E, std::enable_if_t<xt::is_xexpression<E>::value && sizeof(DTypeOf<std::decay_t<typename E::value_type>>) != 0>> {
  using Element = std::decay_t<typename E::value_type>;

  static Tensor to_tensor(const E& array) {
    Tensor out = Tensor::uninitialized(Shape(array.shape().begin(), array.shape().end()), DTypeOf<Element>::value);
    std::copy(array.template begin<xt::layout_type::row_major>(), array.template end<xt::layout_type::row_major>(),
              out.mutable_data<Element>());
    return out;
  }

  template <class A = E, class = std::enable_if_t<(detail::xtensor_rank<A> >= detail::any_rank)>>
  static A from_tensor(const Tensor& tensor) {
    constexpr int rank = detail::xtensor_rank<A>;
    const Element* elements = tensor.data<Element>();
    if (rank != detail::any_rank && static_cast<int>(tensor.shape().size()) != rank) {
      throw ShapeError("[Tensor] an xt::xtensor of rank " + std::to_string(rank) + " can't hold " + tensor.describe());
    }
    A out;
    out.resize(tensor.shape());
    std::copy(elements, elements + tensor.size(), out.template begin<xt::layout_type::row_major>());
    return out;
  }
};

}  // namespace mezzo
