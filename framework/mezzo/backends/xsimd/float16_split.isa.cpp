#include <mezzo/backends/xsimd/float16_split.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

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

}  // namespace

constexpr Float16SplitFunctions float16_split{.split = split};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
