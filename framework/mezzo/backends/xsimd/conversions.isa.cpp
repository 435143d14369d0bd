#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/rounding.hpp>
#include <mezzo/backends/xsimd/split_floats.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Rounds integers that float32 can't hold to odd: to the floor with 24 significant bits, with the last of them set.
/// The second rounding, to a 16-bit float, then has the same result as rounding the integer once.
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
  std::int64_t done = 0;
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, bfloat16>) {
    for (; done + stride <= count; done += stride) {
      prefetch_ahead(from + done);
      for (std::int64_t i = done; i < done + stride; i += 2 * lanes) {
        store_two(to + i, load(from + i, Whole{}), load(from + i + lanes, Whole{}));
      }
    }
  }
  const auto body = [&](std::int64_t i, auto part) { store(to + done + i, load_for<To>(from + done + i, part), part); };
  stream(count - done, body, from + done);
}

template <class From>
constexpr PerStorage<CastFunctions::Cast> from{
    .float32 = convert<From, float>, .bfloat16 = convert<From, bfloat16>, .float16 = convert<From, float16>};

[[gnu::flatten]] void join(const void* high, const void* low, void* whole, std::int64_t begin, std::int64_t end) {
  const auto* const upper = static_cast<const bfloat16*>(high) + begin;
  const auto* const lower = static_cast<const bfloat16*>(low) + begin;
  auto* const out = static_cast<float*>(whole) + begin;
  const auto body = [&](std::int64_t i, auto part) { store(out + i, load_split(upper + i, lower + i, part), part); };
  stream(end - begin, body, upper, lower);
}

[[gnu::flatten]] void split(const void* whole, void* high, void* low, std::int64_t begin, std::int64_t end) {
  const auto* const in = static_cast<const float*>(whole) + begin;
  auto* const upper = static_cast<bfloat16*>(high) + begin;
  auto* const lower = static_cast<bfloat16*>(low) + begin;
  const auto body = [&](std::int64_t i, auto part) { store_split(upper + i, lower + i, load(in + i, part), part); };
  stream(end - begin, body, in);
}

[[gnu::flatten]] void split(const float16* x, bfloat16* high, bfloat16* finite_high, bfloat16* low, bfloat16* low_again,
                            std::int64_t count) {
  const auto body = [&](std::int64_t i, auto part) {
    const Floats whole = load(x + i, part);
    store(high + i, whole, part);
    const Floats rounded = load(high + i, part);
    const auto is_finite = xsimd::abs(whole) <= Floats(65504.0F);  // the largest float16
    const Floats rest = xsimd::select(is_finite, whole - rounded, Floats(0.0F));
    store(finite_high + i, xsimd::select(is_finite, rounded, Floats(0.0F)), part);
    store(low + i, rest, part);
    store(low_again + i, rest, part);
  };
  stream(count, body, x);
}

constexpr float largest_float = std::numeric_limits<float>::max(), largest_bfloat16 = 0x1.fep127F;

/// x, or the nearest finite bfloat16 if x is finite and rounds to infinity.
Floats within_bfloat16(const Floats& x) {
  const auto is_finite = xsimd::abs(x) <= Floats(largest_float);
  const Floats limited = xsimd::max(xsimd::min(x, Floats(largest_bfloat16)), Floats(-largest_bfloat16));
  return xsimd::select(is_finite, limited, x);
}

[[gnu::flatten]] void round(const float* x, bfloat16* high, std::int64_t count) {
  const auto body = [&](std::int64_t i, auto part) { store(high + i, within_bfloat16(load(x + i, part)), part); };
  stream(count, body, x);
}

[[gnu::flatten]] void split(const float* x, bfloat16* high, bfloat16* finite_high, bfloat16* low, std::int64_t count) {
  const auto body = [&](std::int64_t i, auto part) {
    const Floats whole = load(x + i, part);
    store(high + i, within_bfloat16(whole), part);
    const Floats rounded = load(high + i, part);
    const auto is_finite = xsimd::abs(whole) <= Floats(largest_float);
    store(finite_high + i, xsimd::select(is_finite, rounded, Floats(0.0F)), part);
    store(low + i, xsimd::select(is_finite, whole - rounded, Floats(0.0F)), part);
  };
  stream(count, body, x);
}

}  // namespace

constexpr CastFunctions cast{
    .from_storage = {.float32 = from<float>, .bfloat16 = from<bfloat16>, .float16 = from<float16>},
    .from_int32 = from<std::int32_t>,
    .from_bytes = from<std::uint8_t>,
};

constexpr SplitMasterFunctions split_master{.join = join, .split = split};

constexpr Float16SplitFunctions float16_split{.split = split};

constexpr Float32SplitFunctions float32_split{.round = round, .split = split};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
