#include <mezzo/backends/xsimd/scan.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Rounds the lower and the upper lanes to float.
[[gnu::always_inline]] inline Floats narrow(DoubleRegister low, DoubleRegister high) {
#if defined(__AVX512BW__)
  return Floats(_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1));
#elif defined(__AVX2__)
  return Floats(_mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low)));
#else
  return Floats(_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)));
#endif
}

/// The sum or product so far of each lane.
template <bool product>
struct Running {
  DoubleRegister low, high;

  [[gnu::always_inline]] Running() { widen(Floats(product ? 1.0F : 0.0F).data, low, high); }

  /// Continues with the next elements; returns the results for their places.
  [[gnu::always_inline]] Floats next(const Floats& x, bool exclusive) {
    const Floats before = narrow(low, high);
    DoubleRegister x_low, x_high;
    widen(x.data, x_low, x_high);
    if constexpr (product) {
      low = low * x_low;
      high = high * x_high;
    } else {
      low = low + x_low;
      high = high + x_high;
    }
    return exclusive ? before : narrow(low, high);
  }
};

/// One row, element by element.
template <bool product, class T>
[[gnu::always_inline]] inline void scan_row(const T* x, T* y, std::int64_t columns, ScanFunctions::Order order) {
  double result = product ? 1 : 0;
  for (std::int64_t done = 0; done < columns; done += lanes) {
    const std::int64_t left = columns - done, count = left < lanes ? left : lanes;
    const std::int64_t first = order.reverse ? left - count : done;
    float elements[lanes];
    const auto scan_with = [&](auto part) {
      store(static_cast<float*>(elements), load(x + first, part), Whole{});
      for (std::int64_t k = 0; k < count; ++k) {
        float& element = elements[order.reverse ? count - 1 - k : k];
        const double before = result;
        result = product ? result * static_cast<double>(element) : result + static_cast<double>(element);
        element = static_cast<float>(order.exclusive ? before : result);
      }
      store(y + first, load(static_cast<const float*>(elements), Whole{}), part);
    };
    if (count == lanes) {
      scan_with(Whole{});
    } else {
      scan_with(first_lanes(count));
    }
  }
}

/// Scans as many rows as a register has lanes, which hides the latency of the additions of one row. Squares are
/// transposed: a register then holds one element of each row.
template <bool product, class T>
[[gnu::always_inline]] inline void scan_square(const T* x, T* y, std::int64_t columns, ScanFunctions::Order order) {
  Running<product> running;
  for (std::int64_t done = 0; done < columns; done += lanes) {
    const std::int64_t left = columns - done, count = left < lanes ? left : lanes;
    const std::int64_t first = order.reverse ? left - count : done;
    Floats square[lanes];
    const auto scan_with = [&](auto part) {
      for (int r = 0; r < lanes; ++r) square[r] = load(x + r * columns + first, part);
      transpose(square);
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t i = order.reverse ? count - 1 - k : k;
        square[i] = running.next(square[i], order.exclusive);
      }
      transpose(square);
      for (int r = 0; r < lanes; ++r) store(y + r * columns + first, square[r], part);
    };
    if (count == lanes) {
      scan_with(Whole{});
    } else {
      scan_with(first_lanes(count));
    }
  }
}

template <bool product, class T>
[[gnu::flatten]] void scan_rows(const void* x, void* y, std::int64_t rows, std::int64_t columns,
                                ScanFunctions::Order order) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  std::int64_t row = 0;
  for (; row + lanes <= rows; row += lanes) {
    scan_square<product>(from + row * columns, to + row * columns, columns, order);
  }
  for (; row < rows; ++row) scan_row<product>(from + row * columns, to + row * columns, columns, order);
}

/// Row by row, so that memory is read in long pieces.
template <bool product, class T>
[[gnu::flatten]] void scan_columns(const void* x, void* y, std::int64_t rows, std::int64_t columns,
                                   std::int64_t stride_of_rows, ScanFunctions::Order order) {
  const T* const from = static_cast<const T*>(x);
  T* const to = static_cast<T*>(y);
  Running<product> running[ScanFunctions::widest / lanes];
  const std::int64_t next = order.reverse ? -stride_of_rows : stride_of_rows;
  for (std::int64_t k = 0; k < rows; ++k) {
    const std::int64_t at = (order.reverse ? rows - 1 - k : k) * stride_of_rows;
    Running<product>* one = running;
    for_registers(0, columns, [&](std::int64_t i, auto part) {
      __builtin_prefetch(from + at + next + i);
      store(to + at + i, one->next(load(from + at + i, part), order.exclusive), part);
      ++one;
    });
  }
}

template <bool product>
constexpr PerStorage<ScanFunctions::Rows> of_rows{.float32 = scan_rows<product, float>,
                                                  .bfloat16 = scan_rows<product, bfloat16>,
                                                  .float16 = scan_rows<product, float16>};

template <bool product>
constexpr PerStorage<ScanFunctions::Columns> of_columns{.float32 = scan_columns<product, float>,
                                                        .bfloat16 = scan_columns<product, bfloat16>,
                                                        .float16 = scan_columns<product, float16>};

}  // namespace

constexpr ScanFunctions scan{.sum_rows = of_rows<false>,
                             .product_rows = of_rows<true>,
                             .sum_columns = of_columns<false>,
                             .product_columns = of_columns<true>};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
