#include <mezzo/backends/xsimd/truth.hpp>

#include <emmintrin.h>

#include <cstring>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/groups.hpp>

// Reductions of bools, which are bytes of 0 and 1: any and all. Memory limits them on every instruction set, so SSE2,
// which each x86-64 CPU has, is enough.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

template <bool every>
std::uint8_t both(std::uint8_t a, std::uint8_t b) {
  return static_cast<std::uint8_t>(every ? a & b : a | b);
}

template <bool every>
__m128i both(__m128i a, __m128i b) {
  return every ? _mm_and_si128(a, b) : _mm_or_si128(a, b);
}

inline __m128i bytes_at(const std::uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

template <bool every>
std::uint8_t truth_of_row(const std::uint8_t* x, Index count) {
  const __m128i none = _mm_set1_epi8(every ? 1 : 0);
  __m128i a = none, b = none, c = none, d = none;
  Index i = 0;
  for (; i + 64 <= count; i += 64) {
    a = both<every>(a, bytes_at(x + i));
    b = both<every>(b, bytes_at(x + i + 16));
    c = both<every>(c, bytes_at(x + i + 32));
    d = both<every>(d, bytes_at(x + i + 48));
  }
  std::uint8_t bytes[16], truth = every ? 1 : 0;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), both<every>(both<every>(a, b), both<every>(c, d)));
  for (const std::uint8_t byte : bytes) truth = both<every>(truth, byte);
  for (; i < count; ++i) truth = both<every>(truth, x[i]);
  return truth;
}

/// truth[j] = any or all of the elements of column j of the rows, which lie `stride` bytes apart.
template <bool every>
void truth_of_columns(const std::uint8_t* x, Index rows, Index columns, Index stride, std::uint8_t* truth) {
  std::memcpy(truth, x, static_cast<std::size_t>(columns));
  for (Index row = 1; row < rows; ++row) {
    const std::uint8_t* const from = x + row * stride;
    Index i = 0;
    for (; i + 16 <= columns; i += 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(truth + i), both<every>(bytes_at(truth + i), bytes_at(from + i)));
    }
    for (; i < columns; ++i) truth[i] = both<every>(truth[i], from[i]);
  }
}

template <bool every>
std::unique_ptr<Kernel> make_truth(const KernelRequest& request, Isa, std::string& reason) {
  Groups groups;
  const auto& axes = request.attributes.get<Shape>("axes");
  const Shape& shape = request.inputs[0].shape;
  constexpr Index widest = 8192;
  if (!groups.split(shape, axes, widest))
    return decline(reason, "reduces neighbouring axes; got axes {} of {}", axes, shape);
  const auto run = [groups](const KernelArguments& arguments) {
    const auto* const x = arguments.in<std::uint8_t>(0);
    auto* const partial = static_cast<std::uint8_t*>(arguments.scratch);
    groups.for_blocks(
        [&](Index from, Index rows, Index length, Index result) {
          for (Index i = 0; i < rows; ++i) partial[result + i] = truth_of_row<every>(x + from + i * length, length);
        },
        [&](Index from, Index rows, Index width, Index, Index result) {
          truth_of_columns<every>(x + from, rows, width, groups.inner, partial + result);
        });
    groups.for_results([&](Index i, Index first) {
      std::uint8_t truth = every ? 1 : 0;
      for (Index k = 0; k < groups.blocks; ++k) truth = both<every>(truth, partial[first + k * groups.inner]);
      arguments.out<std::uint8_t>(0)[i] = truth;
    });
  };
  return make_kernel(run, {}, static_cast<std::size_t>(groups.partial_results()));
}

}  // namespace

Entries truth_entries() { return {entry<make_truth<true>>("all"), entry<make_truth<false>>("any")}; }

}  // namespace mezzo::xsimd_kernels
