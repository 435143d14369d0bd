#include <mezzo/backends/xsimd/winograd/winograd.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/winograd/matrices.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// The position of a tile: its image and its first pixel.
struct Place {
  std::int64_t image, row, column;
};

[[gnu::always_inline]] inline Place place_of(const TiledImages& g, std::int64_t tile) {
  const std::int64_t tiles = g.down * g.across;
  const std::int64_t in_image = tile % tiles;
  return {tile / tiles, in_image / g.across * 4 - g.top, in_image % g.across * 4 - g.left};
}

/// Pixel (i, j) of the tile, or null outside of the image.
template <class T>
[[gnu::always_inline]] inline const T* pixel_of(const void* images, const TiledImages& g, const Place& at, int i,
                                                int j) {
  const std::int64_t row = at.row + i, column = at.column + j;
  const bool inside = row >= 0 && row < g.height && column >= 0 && column < g.width;
  const std::int64_t pixel = (at.image * g.height + row) * g.width + column;
  return inside ? static_cast<const T*>(images) + pixel * g.channels : nullptr;
}

template <class T>
[[gnu::flatten]] std::uint64_t occupied(const void* images, const TiledImages& g, std::int64_t tile,
                                        std::uint64_t pixels) {
  const Place at = place_of(g, tile);
  std::uint64_t found = 0;
  for (; pixels != 0; pixels &= pixels - 1) {
    const int bit = __builtin_ctzll(pixels);
    const T* pixel = pixel_of<T>(images, g, at, bit / 6, bit % 6);
    if (pixel == nullptr) continue;
    std::int64_t channel = 0;
    bool zero = true;  // not of NaN
    for (; zero && channel + lanes <= g.channels; channel += lanes) {
      zero = xsimd::all(load(pixel + channel, Whole{}) == Floats(0.0F));
    }
    if (zero && channel < g.channels) {
      zero = xsimd::all(load(pixel + channel, first_lanes(g.channels - channel)) == Floats(0.0F));
    }
    if (!zero) found |= std::uint64_t{1} << bit;
  }
  return found;
}

template <class T, class Matrix>
[[gnu::flatten]] void gather(const void* images, const TiledImages& g, std::int64_t begin, std::int64_t end,
                             Points to) {
  constexpr int size = Matrix::in;
  for (std::int64_t tile = begin; tile < end; ++tile, to.data += to.width) {
    const Place at = place_of(g, tile);
    const T* pixels[size * size];
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) pixels[i * size + j] = pixel_of<T>(images, g, at, i, j);
    }
    for_registers(0, g.channels, [&](std::int64_t channel, auto part) {
      Floats x[size * size], y[winograd_points];
      for (int i = 0; i < size * size; ++i) {
        x[i] = pixels[i] != nullptr ? load(pixels[i] + channel, part) : Floats(0.0F);
      }
      both_sides<Matrix>(x, y);
      float* out = to.data + channel;
      for (int i = 0; i < winograd_points; ++i, out += to.pitch) store(out, y[i], Whole{});
    });
  }
}

template <class T>
[[gnu::flatten]] void scatter(Points from, const TiledImages& g, std::int64_t begin, std::int64_t end,
                              const std::uint16_t* zeros, const WinogradEpilogue& epilogue, void* images) {
  constexpr int size = 4;
  const Floats least(epilogue.least), most(epilogue.most);
  const float* const bias = epilogue.bias;
  for (std::int64_t tile = begin; tile < end; ++tile, from.data += from.width) {
    const Place at = place_of(g, tile);
    const unsigned zero = zeros[tile - begin];
    const std::int64_t rows = std::min<std::int64_t>(size, g.height - at.row);
    const std::int64_t columns = std::min<std::int64_t>(size, g.width - at.column);
    const std::int64_t first = ((at.image * g.height + at.row) * g.width + at.column) * g.channels;
    T* to = static_cast<T*>(images) + first;
    const T* const residual = epilogue.residual == nullptr ? nullptr : static_cast<const T*>(epilogue.residual) + first;
    for_registers(0, g.channels, [&](std::int64_t channel, auto part) {
      Floats x[winograd_points], y[size * size];
      const float* in = from.data + channel;
      for (int i = 0; i < winograd_points; ++i, in += from.pitch) x[i] = load(in, Whole{});
      both_sides<OfOutput>(x, y);
      if (zero != 0) {
        for (int i = 0; i < size * size; ++i) y[i] = (zero >> i & 1U) != 0 ? Floats(0.0F) : y[i];
      }
      const Floats shift = bias != nullptr ? load(bias + channel, part) : Floats(0.0F);
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          if (i >= rows || j >= columns) continue;
          const std::int64_t place = (i * g.width + j) * g.channels + channel;
          Floats pixel = y[i * size + j] + shift;
          if (residual != nullptr) pixel += load(residual + place, part);
          // max and min return their second operand if one is NaN.
          store(to + place, xsimd::min(most, xsimd::max(least, pixel)), part);
        }
      }
    });
  }
}

template <class T>
[[gnu::flatten]] void kernel_points(const void* kernel, std::int64_t depth, std::int64_t columns, std::int64_t begin,
                                    std::int64_t end, Points to) {
  const T* taps = static_cast<const T*>(kernel) + begin;
  for (std::int64_t k = 0; k < depth; ++k, taps += columns, to.data += to.width) {
    for_registers(0, end - begin, [&](std::int64_t column, auto part) {
      Floats x[9], y[winograd_points];
      for (int i = 0; i < 9; ++i) x[i] = load(taps + i * depth * columns + column, part);
      both_sides<OfKernel>(x, y);
      float* out = to.data + column;
      for (int i = 0; i < winograd_points; ++i, out += to.pitch) store(out, y[i], Whole{});
    });
    for (std::int64_t column = (end - begin + lanes - 1) / lanes * lanes; column < to.width; column += lanes) {
      for (int i = 0; i < winograd_points; ++i) store(to.data + i * to.pitch + column, Floats(0.0F), Whole{});
    }
  }
}

template <class T>
[[gnu::flatten]] void turn(const void* kernel, std::int64_t channels, std::int64_t filters, std::int64_t begin,
                           std::int64_t end, float* turned) {
  for (int tap = 0; tap < 9; ++tap) {
    const T* from = static_cast<const T*>(kernel) + tap * channels * filters;
    float* to = turned + (8 - tap) * channels * filters;
    // In squares of as many elements as a register has lanes, so that cache lines are read and written as a whole.
    for (std::int64_t first = begin; first < end; first += lanes) {
      const std::int64_t count = std::min<std::int64_t>(lanes, end - first);
      for_registers(0, filters, [&](std::int64_t filter, auto part) {
        Floats square[lanes];
        for (int i = 0; i < lanes; ++i) {
          square[i] = i < count ? load(from + (first + i) * filters + filter, part) : Floats(0.0F);
        }
        transpose(square);
        for (int j = 0; j < lanes_of(part); ++j) {
          float* row = to + (filter + j) * channels + first;
          if (count == lanes) {
            store(row, square[j], Whole{});
          } else {
            store(row, square[j], first_lanes(count));
          }
        }
      });
    }
  }
}

template <class T>
[[gnu::flatten]] void kernel_gradient(Points from, std::int64_t rows, std::int64_t columns, std::int64_t begin,
                                      std::int64_t end, void* kernel) {
  for (std::int64_t row = begin; row < end; ++row) {
    T* to = static_cast<T*>(kernel) + row * columns;
    for_registers(0, columns, [&](std::int64_t column, auto part) {
      Floats x[winograd_points], y[9];
      const float* in = from.data + row * from.width + column;
      for (int i = 0; i < winograd_points; ++i, in += from.pitch) x[i] = load(in, Whole{});
      both_sides<OfKernelGradient>(x, y);
      for (int i = 0; i < 9; ++i) store(to + i * rows * columns + column, y[i], part);
    });
  }
}

}  // namespace

constexpr WinogradFunctions winograd{
    .gather = {.float32 = gather<float, OfInput>,
               .bfloat16 = gather<bfloat16, OfInput>,
               .float16 = gather<float16, OfInput>},
    .gather_output = {.float32 = gather<float, OfOutputGradient>,
                      .bfloat16 = gather<bfloat16, OfOutputGradient>,
                      .float16 = gather<float16, OfOutputGradient>},
    .occupied = {.float32 = occupied<float>, .bfloat16 = occupied<bfloat16>, .float16 = occupied<float16>},
    .scatter = {.float32 = scatter<float>, .bfloat16 = scatter<bfloat16>, .float16 = scatter<float16>},
    .kernel = {.float32 = kernel_points<float>, .bfloat16 = kernel_points<bfloat16>, .float16 = kernel_points<float16>},
    .turn = {.float32 = turn<float>, .bfloat16 = turn<bfloat16>, .float16 = turn<float16>},
    .kernel_gradient = {.float32 = kernel_gradient<float>,
                        .bfloat16 = kernel_gradient<bfloat16>,
                        .float16 = kernel_gradient<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
