#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// @name New arrays
/// Concrete arrays, which convert to Values. Throws a ShapeError if a size is negative or not known yet. With sizes
/// that come from shape(), also beside numbers, `zeros({shape(x)[0], 8})`, the result is a Value.
/// @{
MEZZO_API Tensor zeros(const Shape& shape, DType dtype = DType::float32);
MEZZO_API Tensor zeros(std::initializer_list<Size> shape, DType dtype = DType::float32);
MEZZO_API Value zeros(const Values& shape, DType dtype = DType::float32);
MEZZO_API Tensor ones(const Shape& shape, DType dtype = DType::float32);
MEZZO_API Tensor ones(std::initializer_list<Size> shape, DType dtype = DType::float32);
MEZZO_API Value ones(const Values& shape, DType dtype = DType::float32);
MEZZO_API Tensor full(const Shape& shape, double fill_value, DType dtype = DType::float32);
MEZZO_API Tensor full(std::initializer_list<Size> shape, double fill_value, DType dtype = DType::float32);
MEZZO_API Value full(const Values& shape, double fill_value, DType dtype = DType::float32);
/// Returns zeros; in keras.ops.empty the numbers are unspecified.
MEZZO_API Tensor empty(const Shape& shape, DType dtype = DType::float32);
MEZZO_API Tensor empty(std::initializer_list<Size> shape, DType dtype = DType::float32);
MEZZO_API Value empty(const Values& shape, DType dtype = DType::float32);

/// Identity matrix (rows, columns), by default square, with the ones on diagonal k: above the main diagonal if
/// positive.
MEZZO_API Tensor eye(std::int64_t rows, std::optional<std::int64_t> columns = std::nullopt, std::int64_t k = 0,
                     DType dtype = DType::float32);
inline Tensor eye(const Size& rows, std::optional<std::int64_t> columns = std::nullopt, std::int64_t k = 0,
                  DType dtype = DType::float32) {
  return eye(static_cast<std::int64_t>(rows), columns, k, dtype);
}
/// The same, with sizes that may come from shape().
MEZZO_API Value eye(const Value& rows, const std::optional<Value>& columns = std::nullopt, std::int64_t k = 0,
                    DType dtype = DType::float32);

/// Matrix (rows, columns), by default square, of ones on and below diagonal k.
MEZZO_API Tensor tri(std::int64_t rows, std::optional<std::int64_t> columns = std::nullopt, std::int64_t k = 0,
                     DType dtype = DType::float32);
inline Tensor tri(const Size& rows, std::optional<std::int64_t> columns = std::nullopt, std::int64_t k = 0,
                  DType dtype = DType::float32) {
  return tri(static_cast<std::int64_t>(rows), columns, k, dtype);
}
/// The same, with sizes that may come from shape().
MEZZO_API Value tri(const Value& rows, const std::optional<Value>& columns = std::nullopt, std::int64_t k = 0,
                    DType dtype = DType::float32);

/// @cond
namespace detail {
MEZZO_API Tensor arange_of(double start, double stop, double step, DType dtype);
}
/// @endcond

/// Numbers from `start` on, `step` apart, without `stop`. The dtype is int32 if all are C++ integers, otherwise
/// float32. Throws a ValueError for a step of 0.
template <
    class Start, class Stop, class Step = int,
    class = std::enable_if_t<std::is_arithmetic_v<Start> && std::is_arithmetic_v<Stop> && std::is_arithmetic_v<Step>>>
Tensor arange(Start start, Stop stop, Step step = 1) {
  constexpr bool integers = std::is_integral_v<Start> && std::is_integral_v<Stop> && std::is_integral_v<Step>;
  return detail::arange_of(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step),
                           integers ? DType::int32 : DType::float32);
}
/// The same with a dtype.
template <
    class Start, class Stop, class Step,
    class = std::enable_if_t<std::is_arithmetic_v<Start> && std::is_arithmetic_v<Stop> && std::is_arithmetic_v<Step>>>
Tensor arange(Start start, Stop stop, Step step, DType dtype) {
  return detail::arange_of(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step), dtype);
}
/// Numbers from 0 on, without `stop`.
template <class Stop, class = std::enable_if_t<std::is_arithmetic_v<Stop>>>
Tensor arange(Stop stop) {
  return arange(Stop{0}, stop);
}

/// int32 numbers from `start` on, `step` apart, without `stop`: integers that may come from shape().
MEZZO_API Value arange(const Value& start, const Value& stop, const Value& step = 1, DType dtype = DType::int32);
/// int32 numbers from 0 on, without `stop`.
MEZZO_API Value arange(const Value& stop);

/// Options of linspace, logspace and geomspace.
struct SpaceOptions {
  std::int64_t num = 50;         ///< how many numbers
  bool endpoint = true;          ///< true: the last number is `stop`; false: `stop` would be the next number
  DType dtype = DType::float32;  ///< dtype of the result
};

/// `num` numbers at equal distances from start to stop. Throws a ValueError for a negative num.
MEZZO_API Tensor linspace(double start, double stop, const SpaceOptions& options = {});
/// base^x for the numbers x of linspace.
MEZZO_API Tensor logspace(double start, double stop, const SpaceOptions& options = {}, double base = 10);
/// `num` numbers with equal ratios from start to stop. Throws a ValueError unless both are other than 0 and of one
/// sign.
MEZZO_API Tensor geomspace(double start, double stop, const SpaceOptions& options = {});
/// @}

/// @name Window functions of `size` points, float32
/// @{
MEZZO_API Tensor bartlett(std::int64_t size);
MEZZO_API Tensor blackman(std::int64_t size);
MEZZO_API Tensor hamming(std::int64_t size);
MEZZO_API Tensor hanning(std::int64_t size);
MEZZO_API Tensor kaiser(std::int64_t size, double beta);
/// @}

/// @name Arrays of the shape of another
/// The default dtype is x's.
/// @{
MEZZO_API Value zeros_like(const Value& x, std::optional<DType> dtype = std::nullopt);
MEZZO_API Value ones_like(const Value& x, std::optional<DType> dtype = std::nullopt);
MEZZO_API Value full_like(const Value& x, double fill_value, std::optional<DType> dtype = std::nullopt);
MEZZO_API Value empty_like(const Value& x, std::optional<DType> dtype = std::nullopt);
/// @}

/// Matrix of the powers of the elements of x (one axis): `columns` of them, by default x's size, from power columns - 1
/// to 0, or from 0 on if `increasing`.
MEZZO_API Value vander(const Value& x, std::optional<std::int64_t> columns = std::nullopt, bool increasing = false);

}  // namespace mezzo
