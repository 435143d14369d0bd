#include <mezzo/backends/xsimd/finite.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::flatten]] double check(const void* x, std::int64_t count, float factor) {
  const T* const from = static_cast<const T*>(x);
  // Four sums, to hide the latency of the additions.
  Floats a(0.0F), b(0.0F), c(0.0F), d(0.0F);
  const Floats factors(factor);
  const auto add = [&](std::int64_t i, Floats& sum, auto part) {
    const Floats value = load(from + i, part) * factors;
    sum += value - value;
  };
  std::int64_t i = 0;
  for (; i + stride <= count; i += stride) {
    prefetch_ahead(from + i);
    for (std::int64_t j = i; j < i + stride; j += 4 * lanes) {
      add(j, a, Whole{});
      add(j + lanes, b, Whole{});
      add(j + 2 * lanes, c, Whole{});
      add(j + 3 * lanes, d, Whole{});
    }
  }
  for_registers(i, count, [&](std::int64_t j, auto part) { add(j, a, part); });
  return static_cast<double>(sum_lanes((a + b) + (c + d)));
}

template <class T>
[[gnu::flatten]] double squares(const void* x, std::int64_t count, float) {
  using Doubles = xsimd::batch<double, Arch>;
  const T* const from = static_cast<const T*>(x);
  Doubles low_sum(0.0), high_sum(0.0);
  const auto body = [&](std::int64_t i, auto part) {
    DoubleRegister low, high;
    widen(load(from + i, part), low, high);
    low_sum = xsimd::fma(Doubles(low), Doubles(low), low_sum);
    high_sum = xsimd::fma(Doubles(high), Doubles(high), high_sum);
  };
  stream(count, body, from);
  double sums[lanes / 2];
  (low_sum + high_sum).store_unaligned(sums);
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

template <class T>
[[gnu::flatten]] void replace(const void* x, void* y, std::int64_t count,
                              const FiniteFunctions::Replacements& replacements) {
  const T* const from = static_cast<const T*>(x);
  T* const to = static_cast<T*>(y);
  const Floats infinity(__builtin_inff()), nan(replacements.nan), high(replacements.high), low(replacements.low);
  const auto body = [&](std::int64_t i, auto part) {
    const Floats number = load(from + i, part);
    const Floats finite_or_nan =
        xsimd::select(number == infinity, high, xsimd::select(number == -infinity, low, number));
    store(to + i, xsimd::select(number == number, finite_or_nan, nan), part);
  };
  stream(count, body, from);
}

}  // namespace

constexpr FiniteFunctions finite{
    .check = {.float32 = check<float>, .bfloat16 = check<bfloat16>, .float16 = check<float16>},
    .squares = {.float32 = squares<float>, .bfloat16 = squares<bfloat16>, .float16 = squares<float16>},
    .replace = {.float32 = replace<float>, .bfloat16 = replace<bfloat16>, .float16 = replace<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
