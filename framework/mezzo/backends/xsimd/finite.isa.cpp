#include <mezzo/backends/xsimd/finite.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::flatten]] double check(const void* x, std::int64_t count) {
  const T* const from = static_cast<const T*>(x);
  Floats sum(0.0F);
  const auto body = [&](std::int64_t i, auto part) {
    const Floats value = load(from + i, part);
    sum += value - value;
  };
  stream(count, body, from);
  return static_cast<double>(sum_lanes(sum));
}

template <class T>
[[gnu::flatten]] double squares(const void* x, std::int64_t count) {
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

}  // namespace

constexpr FiniteFunctions finite{
    .check = {.float32 = check<float>, .bfloat16 = check<bfloat16>, .float16 = check<float16>},
    .squares = {.float32 = squares<float>, .bfloat16 = squares<bfloat16>, .float16 = squares<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
