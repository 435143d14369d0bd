#include <mezzo/distributed/reduce.hpp>

#include <algorithm>
#include <array>
#include <type_traits>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/float16.hpp>

namespace mezzo::detail {
namespace {

/// Type that the sum of elements is made in.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>, float, T>;

/// a and b by an operation; NaN if one is.
template <ReduceOp op, class Sum>
Sum combined(Sum a, Sum b) {
  if constexpr (op == ReduceOp::sum) {
    return static_cast<Sum>(a + b);
  } else {
    if (a != a || b != b) return a != a ? a : b;
    return op == ReduceOp::min ? std::min(a, b) : std::max(a, b);
  }
}

/// In blocks that stay in the cache, so that the loops over elements are vectorized and `out` may be a part.
template <class T, ReduceOp op>
void reduce_by(const std::vector<const std::byte*>& parts, std::byte* out, std::int64_t size) {
  using Sum = SumOf<T>;
  constexpr std::int64_t block = 2048;
  std::array<Sum, block> sums;
  for (std::int64_t begin = 0; begin < size; begin += block) {
    const std::int64_t count = std::min(block, size - begin);
    const auto at = [&](const std::byte* part) { return reinterpret_cast<const T*>(part) + begin; };
    for (std::int64_t i = 0; i < count; ++i) sums[static_cast<std::size_t>(i)] = static_cast<Sum>(at(parts[0])[i]);
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      const T* const x = at(parts[rank]);
      for (std::int64_t i = 0; i < count; ++i) {
        Sum& sum = sums[static_cast<std::size_t>(i)];
        sum = combined<op>(sum, static_cast<Sum>(x[i]));
      }
    }
    T* const to = reinterpret_cast<T*>(out) + begin;
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(sums[static_cast<std::size_t>(i)]);
  }
}

template <class T>
void reduce_of(const std::vector<const std::byte*>& parts, std::byte* out, std::int64_t size, ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return reduce_by<T, ReduceOp::sum>(parts, out, size);
    case ReduceOp::min:
      return reduce_by<T, ReduceOp::min>(parts, out, size);
    case ReduceOp::max:
      return reduce_by<T, ReduceOp::max>(parts, out, size);
  }
}

}  // namespace

void require_reducible(DType dtype) {
  if (dtype == DType::boolean || is_float8(dtype))
    fail<DTypeError>("[Communicator]", "a dtype with sums must be given; got {}", dtype);
}

void reduce_parts(const std::vector<const std::byte*>& parts, std::byte* out, std::int64_t size, DType dtype,
                  ReduceOp op) {
  switch (dtype) {
    case DType::float32:
      return reduce_of<float>(parts, out, size, op);
    case DType::float64:
      return reduce_of<double>(parts, out, size, op);
    case DType::bfloat16:
      return reduce_of<bfloat16>(parts, out, size, op);
    case DType::float16:
      return reduce_of<float16>(parts, out, size, op);
    case DType::int8:
      return reduce_of<std::int8_t>(parts, out, size, op);
    case DType::int16:
      return reduce_of<std::int16_t>(parts, out, size, op);
    case DType::int32:
      return reduce_of<std::int32_t>(parts, out, size, op);
    case DType::int64:
      return reduce_of<std::int64_t>(parts, out, size, op);
    case DType::uint8:
      return reduce_of<std::uint8_t>(parts, out, size, op);
    case DType::boolean:
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      break;
  }
  require_reducible(dtype);
}

}  // namespace mezzo::detail
