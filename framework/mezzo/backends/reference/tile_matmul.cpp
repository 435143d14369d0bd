#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/random.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/int8_tiles.hpp>

namespace mezzo::reference {
namespace {

using detail::tile_size;

/// Codes of a matrix (rows, columns), and scales of its tiles (tiles of rows, tiles of columns).
struct Tiles {
  std::int8_t* codes;
  float* scales;
  std::int64_t rows, columns;

  std::int64_t across() const { return detail::tiles_of(columns); }
  float scale(std::int64_t tile, std::int64_t column) const { return scales[tile * across() + column / tile_size]; }

  /// x: numbers (rows, columns). code(scale, number, row, column): the code of a number.
  template <class T, class Code>
  void quantize(const T* x, const Code& code) const {
    parallel_for(detail::tiles_of(rows), grain_of(tile_size * columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t tile = begin; tile < end; ++tile) {
        for (std::int64_t other = 0; other < across(); ++other) quantize_tile(x, code, tile, other);
      }
    });
  }

 private:
  template <class T, class Code>
  void quantize_tile(const T* x, const Code& code, std::int64_t tile, std::int64_t other) const {
    const std::int64_t end = std::min(rows, (tile + 1) * tile_size), last = std::min(columns, (other + 1) * tile_size);
    float largest = 0;
    const auto for_each = [&](const auto& body) {
      for (std::int64_t m = tile * tile_size; m < end; ++m) {
        for (std::int64_t n = other * tile_size; n < last; ++n) body(m, n, static_cast<float>(x[m * columns + n]));
      }
    };
    for_each([&](std::int64_t, std::int64_t, float number) { largest = detail::larger_magnitude(largest, number); });
    const detail::Int8Scale scale(largest);
    scales[tile * across() + other] = scale.scale;
    for_each([&](std::int64_t m, std::int64_t n, float number) {
      codes[m * columns + n] = static_cast<std::int8_t>(code(scale, number, m, n));
    });
  }
};

/// Sum over the tiles of exact sums times both scales, in float32.
float element(const Tiles& x, const Tiles& g, std::int64_t k, std::int64_t n) {
  float out = 0;
  for (std::int64_t tile = 0; tile < detail::tiles_of(x.rows); ++tile) {
    std::int32_t sum = 0;
    for (std::int64_t m = tile * tile_size; m < std::min(x.rows, (tile + 1) * tile_size); ++m) {
      sum += x.codes[m * x.columns + k] * g.codes[m * g.columns + n];
    }
    out = std::fma(static_cast<float>(sum), x.scale(tile, k) * g.scale(tile, n), out);
  }
  return out;
}

template <class T, class Out>
std::unique_ptr<Kernel> tile_matmul(const KernelRequest& request) {
  const Shape& of_x = request.inputs[0].shape;
  const std::int64_t rows = of_x[0], depth = of_x[1], columns = request.inputs[1].shape[1];
  const auto key = request.attributes.get<std::int64_t>("key");
  ScratchLayout layout;
  const auto tiles_at = [&](std::int64_t width) {
    const std::size_t codes = layout.take(static_cast<std::size_t>(rows * width)),
                      scales = layout.take(static_cast<std::size_t>(detail::tiles_of(rows) * detail::tiles_of(width)) *
                                           sizeof(float));
    return [=](const KernelArguments& arguments) {
      char* const scratch = static_cast<char*>(arguments.scratch);
      return Tiles{reinterpret_cast<std::int8_t*>(scratch + codes), reinterpret_cast<float*>(scratch + scales), rows,
                   width};
    };
  };
  const auto left = tiles_at(depth), right = tiles_at(columns);
  const auto run = [=](const KernelArguments& arguments) {
    const Tiles x = left(arguments), g = right(arguments);
    x.quantize(arguments.in<T>(0), [](const detail::Int8Scale& scale, float number, std::int64_t, std::int64_t) {
      return scale.code(number);
    });
    const detail::TileNoise noise{step_stream(key, *arguments.in<double>(2), *arguments.in<double>(3)), columns};
    g.quantize(arguments.in<T>(1), [&](const detail::Int8Scale& scale, float number, std::int64_t m, std::int64_t n) {
      return detail::stochastic_code(scale, number, noise(m, n));
    });
    Out* const out = arguments.out<Out>(0);
    parallel_for(depth, grain_of(rows * columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) {
        for (std::int64_t n = 0; n < columns; ++n) out[k * columns + n] = static_cast<Out>(element(x, g, k, n));
      }
    });
  };
  return make_kernel(run, {}, layout.size());
}

}  // namespace

std::unique_ptr<Kernel> create_tile_matmul(const KernelRequest& request, std::string& reason) {
  return for_input_and_output(request, reason, [&](auto zero, auto out_zero) {
    return tile_matmul<decltype(zero), decltype(out_zero)>(request);
  });
}

}  // namespace mezzo::reference
