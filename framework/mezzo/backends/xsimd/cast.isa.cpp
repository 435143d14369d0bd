#include <mezzo/backends/xsimd/cast.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Rounds integers that float32 can't hold to odd: to the floor with 24 significant bits, with the last of them set. So
/// the second rounding, to a 16-bit float, gives what rounding the integer once would give.
[[gnu::always_inline]] inline Ints rounded_to_odd(const Ints& x) {
  const Ints rest(0xff), low_bit(0x100), limit(1 << 24);
  const Ints floor = x & ~rest;
  const Ints odd = xsimd::select(floor == x, floor, floor | low_bit);
  return xsimd::select(x < limit && x > -limit, x, odd);
}

template <class To, class From, class Some>
[[gnu::always_inline]] inline Floats load_for(const From* p, Some part) {
  if constexpr (!std::is_integral_v<From>) {
    return load(p, part);
  } else {
    const Ints x = load_ints(p, part);
    constexpr bool exact = std::is_same_v<From, std::uint8_t> || std::is_same_v<To, float>;
    return xsimd::to_float(exact ? x : rounded_to_odd(x));
  }
}

template <class From, class To>
[[gnu::flatten]] void convert(const void* x, void* y, std::int64_t count) {
  const From* const from = static_cast<const From*>(x);
  To* const to = static_cast<To*>(y);
  const auto body = [&](std::int64_t i, auto part) { store(to + i, load_for<To>(from + i, part), part); };
  stream(count, body, from);
}

template <class From>
constexpr PerStorage<CastFunctions::Cast> from{
    .float32 = convert<From, float>, .bfloat16 = convert<From, bfloat16>, .float16 = convert<From, float16>};

}  // namespace

constexpr CastFunctions cast{
    .from_storage = {.float32 = from<float>, .bfloat16 = from<bfloat16>, .float16 = from<float16>},
    .from_int32 = from<std::int32_t>,
    .from_bytes = from<std::uint8_t>,
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
