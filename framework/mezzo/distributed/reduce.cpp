#include <mezzo/distributed/reduce.hpp>

#include <algorithm>
#include <type_traits>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/float16.hpp>

namespace mezzo::detail {
namespace {

/// Type that the sum of elements is made in.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>, float, T>;

template <class T>
void reduce_of(const std::vector<const std::byte*>& parts, std::byte* out, std::int64_t size, ReduceOp op) {
  using Sum = SumOf<T>;
  const auto combine = [op](Sum a, Sum b) -> Sum {
    if (op == ReduceOp::sum) return static_cast<Sum>(a + b);
    if (a != a || b != b) return a != a ? a : b;  // NaN wins
    return op == ReduceOp::min ? std::min(a, b) : std::max(a, b);
  };
  for (std::int64_t i = 0; i < size; ++i) {
    Sum sum = static_cast<Sum>(reinterpret_cast<const T*>(parts[0])[i]);
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      sum = combine(sum, static_cast<Sum>(reinterpret_cast<const T*>(parts[rank])[i]));
    }
    reinterpret_cast<T*>(out)[i] = static_cast<T>(sum);
  }
}

}  // namespace

void require_reducible(DType dtype) {
  if (dtype == DType::boolean) fail<DTypeError>("[Communicator]", "a dtype with sums must be given; got {}", dtype);
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
      break;
  }
  require_reducible(dtype);
}

}  // namespace mezzo::detail
