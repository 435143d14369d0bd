#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/number_range.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/run_sizes.hpp>

namespace mezzo {
namespace {

/// The next number after x towards y, by the order of the bits.
template <class Bits>
Bits next_bits(Bits x, Bits y) {
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  if (x == y || (((x | y) & static_cast<Bits>(~sign)) == 0)) return y;
  if ((x & static_cast<Bits>(~sign)) == 0) return static_cast<Bits>((y & sign) | 1);
  const auto key = [](Bits bits) {
    return (bits & sign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | sign);
  };
  const bool away = (key(y) > key(x)) == ((x & sign) == 0);
  return static_cast<Bits>(away ? x + 1 : x - 1);
}

template <class Bits>
void next_numbers(const Tensor& from, const Tensor& to, const std::vector<double>& x, const std::vector<double>& y,
                  Tensor& out) {
  const auto* const a = static_cast<const std::byte*>(from.raw());
  const auto* const b = static_cast<const std::byte*>(to.raw());
  auto* const result = static_cast<std::byte*>(out.mutable_raw());
  for (std::size_t i = 0; i < x.size(); ++i) {
    Bits first{}, second{};
    std::memcpy(&first, a + i * sizeof(Bits), sizeof(Bits));
    std::memcpy(&second, b + i * sizeof(Bits), sizeof(Bits));
    const Bits next = std::isnan(x[i]) ? first : std::isnan(y[i]) ? second : next_bits(first, second);
    std::memcpy(result + i * sizeof(Bits), &next, sizeof(Bits));
  }
}

Tensor next_after(const Tensor& from, const Tensor& to) {
  const std::vector<double> x = from.to_doubles(), y = to.to_doubles();
  Tensor out = Tensor::uninitialized(from.shape(), from.dtype());
  if (dtype_size(from.dtype()) == 8) next_numbers<std::uint64_t>(from, to, x, y, out);
  if (dtype_size(from.dtype()) == 4) next_numbers<std::uint32_t>(from, to, x, y, out);
  if (dtype_size(from.dtype()) == 2) next_numbers<std::uint16_t>(from, to, x, y, out);
  return out;
}

}  // namespace

Value nextafter(const Value& x1, const Value& x2) {
  const std::string where_called = detail::current_label("nextafter");
  const DType dtype = x1.weak() ? x2.dtype() : x2.weak() ? x1.dtype() : promote(x1.dtype(), x2.dtype());
  if (!is_floating(dtype)) fail<DTypeError>(where_called, "operands must be floating; got {}", dtype);
  const Shape shape = broadcast(x1.shape(), x2.shape(), where_called);
  const auto whole = [&](const Value& x, const Value& other) {
    const Value same =
        x.weak() ? Value(detail::number_as(x.tensor(), dtype, where_called)) : detail::as(stop_gradient(x), dtype);
    return detail::broadcast_beside(same, shape, other);
  };
  return host([](const std::vector<Tensor>& xs) { return next_after(xs[0], xs[1]); }, {whole(x1, x2), whole(x2, x1)});
}

}  // namespace mezzo
