#include <mezzo/backends/xsimd/dropout.hpp>
#include <mezzo/backends/xsimd/philox.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::flatten]] void dropout_of(const void* x, void* y, const DropoutRule& rule, std::int64_t begin,
                                 std::int64_t end) {
  const T* const from = static_cast<const T*>(x);
  T* const to = static_cast<T*>(y);
  const Philox philox(rule.stream);
  const Ints below(rule.least - 1);
  const Floats divisor(rule.divisor);
  const auto body = [&](std::int64_t i, const Words& word, auto part) {
    store(to + i, kept(load(from + i, part) / divisor, word, below), part);
  };
  Words words[4];
  std::int64_t i = begin;
  for (; i + batch <= end; i += batch) {
    prefetch_ahead(from + i);
    philox(static_cast<std::uint64_t>(i) / 4, words);
    for (int j = 0; j < 4; ++j) body(i + j * lanes, words[j], Whole{});
  }
  if (i == end) return;
  philox(static_cast<std::uint64_t>(i) / 4, words);
  int j = 0;
  for (; i + lanes <= end; i += lanes) body(i, words[j++], Whole{});
  if (i < end) body(i, words[j], first_lanes(end - i));
}

}  // namespace

constexpr DropoutFunctions dropout{
    .dropout = {.float32 = dropout_of<float>, .bfloat16 = dropout_of<bfloat16>, .float16 = dropout_of<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
