#include <mezzo/backends/xsimd/movement.hpp>

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

// Kernels that move elements of any dtype by strides: transpose, flip, broadcast_to. Memory limits them on every
// instruction set, so SSE2, which each x86-64 CPU has, is enough.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// An axis of the output: its size, and the strides of the input and the output in elements.
struct MovedAxis {
  Index size, from, to;
};

constexpr std::size_t most_axes = 16;

/// The axes of the output without those of size 1. Neighbours are merged if the input's strides allow it.
std::vector<MovedAxis> moved_axes(const Shape& shape, const Shape& from) {
  const Shape to = detail::row_major_strides(shape);
  std::vector<MovedAxis> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (!axes.empty() && axes.back().from == from[i] * shape[i]) {
      axes.back() = {axes.back().size * shape[i], from[i], to[i]};
    } else {
      axes.push_back({shape[i], from[i], to[i]});
    }
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

/// Offsets in the input and the output of the elements of some axes, in row-major order.
class Odometer {
 public:
  Odometer(const std::vector<MovedAxis>& axes, Index start) : axes_(axes) {
    for (std::size_t i = axes_.size(); i-- > 0; start /= axes_[i].size) {
      places_[i] = start % axes_[i].size;
      from += places_[i] * axes_[i].from;
      to += places_[i] * axes_[i].to;
    }
  }

  void next() {
    for (std::size_t i = axes_.size(); i-- > 0;) {
      from += axes_[i].from;
      to += axes_[i].to;
      if (++places_[i] < axes_[i].size) return;
      from -= axes_[i].from * axes_[i].size;
      to -= axes_[i].to * axes_[i].size;
      places_[i] = 0;
    }
  }

  Index from = 0, to = 0;

 private:
  const std::vector<MovedAxis>& axes_;
  std::array<Index, most_axes> places_{};
};

inline __m128i load_16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline void store_16(void* p, __m128i x) { _mm_storeu_si128(static_cast<__m128i*>(p), x); }

/// Reverses the elements of 16 bytes.
template <class T>
inline __m128i reversed(__m128i x) {
  if constexpr (sizeof(T) == 8) return _mm_shuffle_epi32(x, 0x4e);
  x = _mm_shuffle_epi32(x, 0x1b);
  if constexpr (sizeof(T) <= 2) x = _mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0xb1), 0xb1);
  if constexpr (sizeof(T) == 1) x = _mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8));
  return x;
}

/// to[i] = from[i * step] for i < count.
template <class T>
void move_line(const T* from, Index step, T* to, Index count) {
  constexpr Index wide = 16 / sizeof(T);
  if (step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  } else if (step == 0) {
    std::fill_n(to, count, *from);
  } else if (step == -1) {
    Index i = 0;
    for (; i + wide <= count; i += wide) store_16(to + i, reversed<T>(load_16(from - i - wide + 1)));
    for (; i < count; ++i) to[i] = from[-i];
  } else {
    for (Index i = 0; i < count; ++i) to[i] = from[i * step];
  }
}

/// A kernel that moves line by line. Threads share long lines.
template <class T>
std::unique_ptr<Kernel> move_lines(std::vector<MovedAxis> axes, Index first) {
  const MovedAxis line = axes.back();
  axes.pop_back();
  Index lines = 1;
  for (const MovedAxis& axis : axes) lines *= axis.size;
  return make_kernel([axes = std::move(axes), line, lines, first](const KernelArguments& arguments) {
    parallel_elements(lines * line.size, [&](Index begin, Index end) {
      Odometer at(axes, begin / line.size);
      Index column = begin % line.size;
      for (Index i = begin; i < end; at.next()) {
        const Index count = std::min(line.size - column, end - i);
        move_line(arguments.in<T>(0) + first + at.from + column * line.from, line.from, arguments.out<T>(0) + i, count);
        i += count;
        column = 0;
      }
    });
  });
}

/// A matrix whose rows are contiguous in the input and whose columns are contiguous in the output.
struct Transposition {
  Index rows, columns;
  Index from, to;  ///< distance of rows in the input, of columns in the output
};

/// to[j * t + i] = from[i * s + j]. Writes each cache line as a whole if there are few columns.
template <class T>
void transpose_plain(const T* from, T* to, const Transposition& matrix) {
  if (matrix.columns < matrix.rows) {
    for (Index j = 0; j < matrix.columns; ++j) {
      for (Index i = 0; i < matrix.rows; ++i) to[j * matrix.to + i] = from[i * matrix.from + j];
    }
  } else {
    for (Index i = 0; i < matrix.rows; ++i) {
      for (Index j = 0; j < matrix.columns; ++j) to[j * matrix.to + i] = from[i * matrix.from + j];
    }
  }
}

template <class T>
constexpr Index tile_side = 64 / static_cast<Index>(sizeof(T));  // elements in a cache line

/// Transposes 4 x 4 elements of 32 bits or 8 x 8 of 16 bits into a tile.
inline void transpose_square(const std::uint32_t* from, Index s, std::uint32_t* tile) {
  constexpr Index side = tile_side<std::uint32_t>;
  const __m128i a = load_16(from), b = load_16(from + s), c = load_16(from + 2 * s), d = load_16(from + 3 * s);
  const __m128i ab_low = _mm_unpacklo_epi32(a, b), ab_high = _mm_unpackhi_epi32(a, b);
  const __m128i cd_low = _mm_unpacklo_epi32(c, d), cd_high = _mm_unpackhi_epi32(c, d);
  store_16(tile, _mm_unpacklo_epi64(ab_low, cd_low));
  store_16(tile + side, _mm_unpackhi_epi64(ab_low, cd_low));
  store_16(tile + 2 * side, _mm_unpacklo_epi64(ab_high, cd_high));
  store_16(tile + 3 * side, _mm_unpackhi_epi64(ab_high, cd_high));
}

inline void transpose_square(const std::uint16_t* from, Index s, std::uint16_t* tile) {
  constexpr Index side = tile_side<std::uint16_t>;
  __m128i x[8], y[8];
  for (Index i = 0; i < 8; ++i) x[i] = load_16(from + i * s);
  for (Index i = 0; i < 4; ++i) {  // pairs of rows
    y[i] = _mm_unpacklo_epi16(x[2 * i], x[2 * i + 1]);
    y[i + 4] = _mm_unpackhi_epi16(x[2 * i], x[2 * i + 1]);
  }
  for (Index i = 0; i < 8; i += 2) {  // fours of rows
    x[i] = _mm_unpacklo_epi32(y[i], y[i + 1]);
    x[i + 1] = _mm_unpackhi_epi32(y[i], y[i + 1]);
  }
  for (Index i = 0; i < 2; ++i) {
    for (Index half = 0; half < 2; ++half) {
      const __m128i low = x[4 * half + i], high = x[4 * half + 2 + i];
      store_16(tile + (4 * half + 2 * i) * side, _mm_unpacklo_epi64(low, high));
      store_16(tile + (4 * half + 2 * i + 1) * side, _mm_unpackhi_epi64(low, high));
    }
  }
}

/// Transposes a tile of whole cache lines. Each line is read and written as a whole, so that rows at distances of a
/// power of 2, which compete for the same few lines of a cache, are read from memory only once.
template <class T>
void transpose_tile(const T* from, T* to, const Transposition& matrix) {
  constexpr Index side = tile_side<T>, square = 16 / static_cast<Index>(sizeof(T));
  alignas(64) T tile[side * side];
  for (Index i = 0; i < side; i += square) {
    for (Index k = 0; k < square; ++k) __builtin_prefetch(from + (i + k) * matrix.from + side);
    for (Index j = 0; j < side; j += square) {
      transpose_square(from + i * matrix.from + j, matrix.from, tile + j * side + i);
    }
  }
  for (Index j = 0; j < side; ++j) {
    for (Index i = 0; i < side; i += square) store_16(to + j * matrix.to + i, load_16(tile + j * side + i));
  }
}

/// Transposes a matrix of up to some hundred rows and columns.
template <class T>
void transpose_block(const T* from, T* to, const Transposition& matrix) {
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
    constexpr Index side = tile_side<T>;
    const Index rows = matrix.rows / side * side, columns = matrix.columns / side * side;
    const auto part = [&](Index row, Index column, Index height, Index width) {
      if (height > 0 && width > 0) {
        transpose_plain(from + row * matrix.from + column, to + column * matrix.to + row,
                        {height, width, matrix.from, matrix.to});
      }
    };
    if (rows == 0 || columns == 0) {
      part(0, 0, matrix.rows, matrix.columns);
      return;
    }
    for (Index i = 0; i < rows; i += side) {
      for (Index j = 0; j < columns; j += side) {
        transpose_tile(from + i * matrix.from + j, to + j * matrix.to + i, matrix);
      }
    }
    part(0, columns, rows, matrix.columns - columns);
    part(rows, 0, matrix.rows - rows, matrix.columns);
  } else {
    constexpr Index side = 16;
    for (Index i = 0; i < matrix.rows; i += side) {
      for (Index j = 0; j < matrix.columns; j += side) {
        transpose_plain(from + i * matrix.from + j, to + j * matrix.to + i,
                        {std::min(side, matrix.rows - i), std::min(side, matrix.columns - j), matrix.from, matrix.to});
      }
    }
  }
}

/// A kernel for a last axis that is not contiguous in the input: transposes it with axis `contiguous`, which is.
template <class T>
std::unique_ptr<Kernel> move_matrices(std::vector<MovedAxis> axes, std::size_t contiguous, Index first) {
  constexpr Index side = 256;  // of a block: few enough pages of memory
  const MovedAxis row = axes.back(), column = axes[contiguous];
  axes.pop_back();
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(contiguous));
  Index matrices = 1;
  for (const MovedAxis& axis : axes) matrices *= axis.size;
  const Index down = (row.size + side - 1) / side, across = (column.size + side - 1) / side;
  const auto run = [=, axes = std::move(axes)](const KernelArguments& arguments) {
    const Index elements = std::min(row.size, side) * std::min(column.size, side);
    parallel_for(matrices * across * down, grain_of(elements), [&](Index begin, Index end) {
      Odometer at(axes, begin / (across * down));
      for (Index task = begin; task < end; ++task) {
        const Index i = task % down * side, j = task / down % across * side;
        transpose_block(arguments.in<T>(0) + first + at.from + i * row.from + j,
                        arguments.out<T>(0) + at.to + j * column.to + i,
                        {std::min(side, row.size - i), std::min(side, column.size - j), row.from, column.to});
        if ((task + 1) % (across * down) == 0) at.next();
      }
    });
  };
  return make_kernel(run);
}

template <class T>
std::unique_ptr<Kernel> move_elements(const std::vector<MovedAxis>& axes, Index first) {
  const Index step = axes.back().from;
  if (step < -1 || step > 1) {
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
      if (axes[i].from == 1) return move_matrices<T>(axes, i, first);
    }
  }
  return move_lines<T>(axes, first);
}

/// The kernel that reads element (i, j, ...) of the output at first + i strides[0] + j strides[1] + ... of the input.
std::unique_ptr<Kernel> make_move(const KernelRequest& request, std::string& reason, const Shape& strides,
                                  Index first = 0) {
  const Spec& out = request.outputs[0];
  const std::vector<MovedAxis> axes = moved_axes(out.shape, strides);
  if (axes.size() > most_axes) return decline(reason, "takes up to {} axes; got {}", most_axes, axes.size());
  switch (dtype_size(out.dtype)) {
    case 1:
      return move_elements<std::uint8_t>(axes, first);
    case 2:
      return move_elements<std::uint16_t>(axes, first);
    case 4:
      return move_elements<std::uint32_t>(axes, first);
    default:
      return move_elements<std::uint64_t>(axes, first);
  }
}

std::unique_ptr<Kernel> make_transpose(const KernelRequest& request, Isa, std::string& reason) {
  const Shape own = detail::row_major_strides(request.inputs[0].shape);
  Shape strides;
  for (const auto axis : request.attributes.get<Shape>("permutation")) {
    strides.push_back(own[static_cast<std::size_t>(axis)]);
  }
  return make_move(request, reason, strides);
}

std::unique_ptr<Kernel> make_flip(const KernelRequest& request, Isa, std::string& reason) {
  const Shape& shape = request.inputs[0].shape;
  Shape strides = detail::row_major_strides(shape);
  Index first = 0;
  for (const auto axis : request.attributes.get<Shape>("axes")) {
    Index& stride = strides[static_cast<std::size_t>(axis)];
    first += stride * (shape[static_cast<std::size_t>(axis)] - 1);
    stride = -stride;
  }
  return make_move(request, reason, strides, first);
}

std::unique_ptr<Kernel> make_broadcast(const KernelRequest& request, Isa, std::string& reason) {
  return make_move(request, reason, broadcast_strides(request.inputs[0].shape, request.outputs[0].shape));
}

}  // namespace

Entries movement_entries() {
  return {entry<make_transpose>("transpose"), entry<make_flip>("flip"), entry<make_broadcast>("broadcast_to")};
}

}  // namespace mezzo::xsimd_kernels
