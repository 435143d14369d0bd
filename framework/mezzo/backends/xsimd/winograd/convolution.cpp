#include <algorithm>
#include <array>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/winograd/geometry.hpp>
#include <mezzo/backends/xsimd/winograd/tile_rows.hpp>
#include <mezzo/backends/xsimd/winograd/winograd.hpp>
#include <mezzo/compiler/packed_constants.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using winograd::Geometry;
using winograd::TileRows;

/// The convolution of images by a kernel, for conv2d and its input gradient.
class Convolution {
 public:
  /// `constant`: the kernel's points are computed before any run.
  Convolution(Isa isa, const Geometry& geometry, DType in, DType out, bool constant)
      : products_(kernels(isa).products),
        geometry_(geometry),
        gather_(kernels(isa).winograd.gather[in]),
        occupied_(kernels(isa).winograd.occupied[in]),
        scatter_(kernels(isa).winograd.scatter[out]),
        depth_(geometry.x.channels),
        columns_(round_up(geometry.y.channels, products_.panel)),
        threads_(thread_count()) {
    // The tiles of a chunk are processed together. Their points and products should stay in the L2 cache, so chunks are
    // small; the kernel is read once for each chunk, so chunks are not too small.
    const std::int64_t share = (geometry.tiles + threads_ - 1) / threads_;
    chunk_ = std::min(share, depth_ + columns_ <= 256 ? most_tiles / 2 : most_tiles);
    kernel_ = winograd::points(nullptr, depth_, products_.panel);
    by_panels_ = !constant && depth_ * columns_ > geometry.tiles * (depth_ + columns_);
    if (by_panels_) {
      in_ = winograd::points(nullptr, geometry.tiles, spread_width(depth_));
      out_ = winograd::points(nullptr, geometry.tiles, spread_width(columns_));
      return;
    }
    in_ = winograd::points(nullptr, chunk_, spread_width(depth_));
    out_ = winograd::points(nullptr, chunk_, spread_width(columns_));
    in_.pitch = out_.pitch = std::max(in_.pitch, out_.pitch);
  }

  std::int64_t panels() const { return columns_ / products_.panel; }
  /// Memory of the points of the kernel.
  std::int64_t kernel_floats() const { return (by_panels_ ? threads_ : panels()) * winograd::floats_of(kernel_); }
  /// Scratch memory of all threads.
  std::int64_t floats() const {
    return by_panels_ ? winograd::floats_of(in_) + winograd::floats_of(out_) + geometry_.tiles
                      : threads_ * own_floats();
  }

  /// Transforms a kernel (3, 3, depth, columns) to its points.
  void pack(WinogradFunctions::Kernel points_of, const void* kernel, float* points) const {
    const std::int64_t columns = geometry_.y.channels;
    parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        Points to = kernel_;
        to.data = points + i * winograd::floats_of(kernel_);
        points_of(kernel, depth_, columns, i * products_.panel, std::min(columns, (i + 1) * products_.panel), to);
      }
    });
  }

  /// Convolves the images by a kernel (3, 3, depth, columns), to output 0. `points`: memory of kernel_floats() numbers.
  void run(const KernelArguments& arguments, const TileRows& images, WinogradFunctions::Kernel points_of,
           const void* kernel, float* points, const WinogradEpilogue& epilogue, float* scratch) const {
    if (by_panels_) return run_by_panels(arguments, images, points_of, kernel, points, epilogue, scratch);
    pack(points_of, kernel, points);
    run(arguments, images, points, epilogue, scratch);
  }

  /// Convolves the images by the kernel with these points, to output 0.
  void run(const KernelArguments& arguments, const TileRows& images, const float* kernel,
           const WinogradEpilogue& epilogue, float* scratch) const {
    images.prepare(arguments);
    const std::int64_t chunks = (geometry_.tiles + chunk_ - 1) / chunk_;
    const auto threads = static_cast<int>(std::min<std::int64_t>({threads_, thread_count(), chunks}));
    parallel_threads(threads, [&](int thread, int count) {
      float* own = scratch + thread * own_floats();
      const std::int64_t last = geometry_.tiles * (thread + 1) / count;
      for (std::int64_t tile = geometry_.tiles * thread / count; tile < last; tile += chunk_) {
        run_chunk(arguments, images, thread, kernel, epilogue, own, tile, std::min(last, tile + chunk_));
      }
    });
  }

 private:
  /// Scratch memory of a thread. The products of a point overwrite the point before, which nothing reads any more.
  std::int64_t own_floats() const { return (winograd_points + 1) * in_.pitch; }

  /// Transforms tiles [begin, end) to rows from the first one on, and finds their outputs that are sums of zeros.
  void gather_tiles(const KernelArguments& arguments, const TileRows& images, int thread, std::int64_t begin,
                    std::int64_t end, Points to, std::uint16_t* zeros) const {
    for (; begin < end; begin += images.step()) {
      const std::int64_t last = std::min(end, begin + images.step());
      const void* const in = images.under(arguments, thread, begin, last);
      gather_(in, geometry_.x, begin, last, to);
      to.data += (last - begin) * to.width;
      for (std::int64_t tile = begin; tile < last; ++tile) {
        *zeros++ = winograd::zero_outputs(occupied_, in, geometry_.x, tile);
      }
    }
  }

  /// For few tiles and a large kernel, whose points would be most of the memory: all tiles by a panel of the kernel.
  void run_by_panels(const KernelArguments& arguments, const TileRows& images, WinogradFunctions::Kernel points_of,
                     const void* kernel, float* points, const WinogradEpilogue& epilogue, float* scratch) const {
    Points a = in_, c = out_;
    a.data = scratch;
    c.data = a.data + winograd::floats_of(a);
    auto* const zeros = reinterpret_cast<std::uint16_t*>(c.data + winograd::floats_of(c));
    const std::int64_t columns = geometry_.y.channels;
    const int threads = images.threads();
    constexpr std::int64_t fewest_tiles = 8;  // of a thread
    images.prepare(arguments);
    parallel_ranges(geometry_.tiles, fewest_tiles, threads, [&](int thread, std::int64_t begin, std::int64_t end) {
      Points rows = a;
      rows.data += begin * a.width;
      gather_tiles(arguments, images, thread, begin, end, rows, zeros + begin);
    });
    parallel_ranges(panels(), 1, threads, [&](int thread, std::int64_t begin, std::int64_t end) {
      Points own = kernel_;
      own.data = points + thread * winograd::floats_of(kernel_);
      for (std::int64_t i = begin; i < end; ++i) {
        points_of(kernel, depth_, columns, i * products_.panel, std::min(columns, (i + 1) * products_.panel), own);
        for (std::int64_t point = 0; point < winograd_points; ++point) {
          products_.product({.a = a.data + point * a.pitch,
                             .a_width = a.width,
                             .b = own.data + point * own.pitch,
                             .b_width = own.width,
                             .out = c.data + point * c.pitch + i * products_.panel,
                             .out_width = c.width,
                             .rows = geometry_.tiles,
                             .depth = depth_});
        }
      }
    });
    parallel_ranges(geometry_.tiles, fewest_tiles, threads, [&](int /*thread*/, std::int64_t begin, std::int64_t end) {
      Points rows = c;
      rows.data += begin * c.width;
      scatter_(rows, geometry_.y, begin, end, zeros + begin, epilogue, arguments.outputs[0]);
    });
  }

  void run_chunk(const KernelArguments& arguments, const TileRows& images, int thread, const float* kernel,
                 const WinogradEpilogue& epilogue, float* own, std::int64_t begin, std::int64_t end) const {
    Points a = in_, c = out_;
    c.data = own;
    a.data = own + a.pitch;
    std::array<std::uint16_t, most_tiles> zeros;
    gather_tiles(arguments, images, thread, begin, end, a, zeros.data());
    for (std::int64_t point = 0; point < winograd_points; ++point) {
      for (std::int64_t i = 0; i < panels(); ++i) {
        products_.product({.a = a.data + point * a.pitch,
                           .a_width = a.width,
                           .b = kernel + i * winograd::floats_of(kernel_) + point * kernel_.pitch,
                           .b_width = kernel_.width,
                           .out = c.data + point * c.pitch + i * products_.panel,
                           .out_width = c.width,
                           .rows = end - begin,
                           .depth = depth_});
      }
    }
    scatter_(c, geometry_.y, begin, end, zeros.data(), epilogue, arguments.outputs[0]);
  }

  static constexpr std::int64_t most_tiles = 96;  // of a chunk

  const ProductFunctions& products_;
  Geometry geometry_;
  WinogradFunctions::Gather gather_;
  WinogradFunctions::Occupied occupied_;
  WinogradFunctions::Scatter scatter_;
  std::int64_t depth_, columns_, threads_, chunk_ = 0;
  bool by_panels_ = false;  ///< a thread computes the points of some panels of the kernel, for all tiles
  Points in_, out_, kernel_;
};

class Forward final : public Kernel {
 public:
  /// With `normalizes`, the kernel of normalized_conv2d: no bias, residual and limits.
  Forward(Isa isa, const KernelRequest& request, bool normalizes)
      : images_(request, normalizes, winograd::of_convolution(request), isa, scratch_),
        convolution_(isa, winograd::of_convolution(request), request.inputs[0].dtype, request.outputs[0].dtype,
                     request.constants.count(1) != 0),
        pack_(kernels(isa).winograd.kernel[request.inputs[1].dtype]),
        has_bias_(!normalizes && has_bias(request)),
        residual_(normalizes ? std::nullopt : residual_of(request)),
        limits_(normalizes ? Limits() : limits_of(request)) {
    threads_memory_ = scratch_.take(static_cast<std::size_t>(convolution_.floats()) * sizeof(float));
    const auto points_bytes = static_cast<std::size_t>(convolution_.kernel_floats()) * sizeof(float);
    const auto constant = request.constants.find(1);
    if (constant != request.constants.end()) {
      packed_ = detail::packed_constant(
          constant->second, fmt::format("winograd {}", isa_name(isa)), points_bytes,
          [&](void* to) { convolution_.pack(pack_, constant->second.raw(), static_cast<float*>(to)); });
    } else {
      points_ = scratch_.take(points_bytes);
    }
    if (!has_bias_ || request.inputs[2].dtype == DType::float32) return;
    const Spec& bias = request.inputs[2];
    widened_bias_ = scratch_.take(bytes_of({bias.shape, DType::float32}));
    widen_bias_ = cast_kernel(bias.shape, bias.dtype, DType::float32, request.where);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    const void* bias = has_bias_ ? arguments.inputs[2] : nullptr;
    if (widen_bias_) {
      void* wide = scratch + widened_bias_;
      widen_bias_->run({&bias, &wide, scratch + scratch_.size()});
      bias = wide;
    }
    const WinogradEpilogue epilogue{.bias = static_cast<const float*>(bias),
                                    .residual = residual_ ? arguments.inputs[*residual_] : nullptr,
                                    .least = limits_.least,
                                    .most = limits_.most};
    float* const own = floats_at(arguments, threads_memory_);
    if (packed_) {
      return convolution_.run(arguments, images_, static_cast<const float*>(packed_->data()), epilogue, own);
    }
    convolution_.run(arguments, images_, pack_, arguments.inputs[1], floats_at(arguments, points_), epilogue, own);
  }
  std::size_t scratch_bytes() const override {
    return scratch_.size() + (widen_bias_ ? widen_bias_->scratch_bytes() : 0);
  }
  std::string detail() const override { return packed_ ? "F(4x4,3x3), packed" : "F(4x4,3x3)"; }

 private:
  ScratchLayout scratch_;
  TileRows images_;
  Convolution convolution_;
  WinogradFunctions::Kernel pack_;
  bool has_bias_;
  std::optional<std::size_t> residual_;
  Limits limits_;
  std::shared_ptr<const detail::PackedConstant> packed_;            // points of a constant kernel
  std::unique_ptr<Kernel> widen_bias_;                              // of another dtype than float32
  std::size_t threads_memory_ = 0, points_ = 0, widened_bias_ = 0;  // offsets in scratch memory
};

class InputGradient final : public Kernel {
 public:
  InputGradient(Isa isa, const KernelRequest& request)
      : images_(request, false, winograd::of_input_gradient(request), isa, none_),
        convolution_(isa, winograd::of_input_gradient(request), request.inputs[0].dtype, request.outputs[0].dtype,
                     false),
        pack_(kernels(isa).winograd.kernel.float32),
        turn_(kernels(isa).winograd.turn[request.inputs[1].dtype]),
        channels_(request.outputs[0].shape[3]),
        filters_(request.inputs[0].shape[3]) {}

  void run(const KernelArguments& arguments) override {
    auto* scratch = static_cast<float*>(arguments.scratch);
    float* const points = scratch + convolution_.floats();
    float* const turned = points + convolution_.kernel_floats();
    constexpr std::int64_t unit = 16;
    parallel_for((channels_ + unit - 1) / unit, 1, [&](std::int64_t begin, std::int64_t end) {
      turn_(arguments.inputs[1], channels_, filters_, begin * unit, std::min(channels_, end * unit), turned);
    });
    const Limits none;
    convolution_.run(arguments, images_, pack_, turned, points, {.least = none.least, .most = none.most}, scratch);
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(convolution_.floats() + convolution_.kernel_floats() + 9 * channels_ * filters_) *
           sizeof(float);
  }
  std::string detail() const override { return "F(4x4,3x3)"; }

 private:
  ScratchLayout none_;
  TileRows images_;  ///< uses no scratch memory
  Convolution convolution_;
  WinogradFunctions::Kernel pack_;
  WinogradFunctions::Turn turn_;
  std::int64_t channels_, filters_;
};

}  // namespace

std::unique_ptr<Kernel> winograd::make_convolution(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& y = request.outputs[0].shape;
  if (!takes(request, request.inputs[0].shape, request.inputs[1].shape, y, reason)) return nullptr;
  if (has_bias(request) && !is_stored(request.inputs[2].dtype)) {
    return decline_dtype(reason, request.inputs[2].dtype);
  }
  return std::make_unique<Forward>(isa, request, false);
}

std::unique_ptr<Kernel> winograd::make_normalized_convolution(const KernelRequest& request, Isa isa,
                                                              std::string& reason) {
  if (!takes_normalized(request, reason)) return nullptr;
  if (!takes(request, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape, reason))
    return nullptr;
  return std::make_unique<Forward>(isa, request, true);
}

std::unique_ptr<Kernel> winograd::make_input_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& x = request.outputs[0].shape;
  if (!takes(request, x, request.inputs[1].shape, request.inputs[0].shape, reason)) return nullptr;
  return std::make_unique<InputGradient>(isa, request);
}

Entries winograd_entries() {
  return {entry<winograd::make_convolution>("conv2d"), entry<winograd::make_input_gradient>("conv2d_input_gradient"),
          entry<winograd::make_kernel_gradient>("conv2d_kernel_gradient")};
}

Entries normalized_winograd_entries() {
  return {entry<winograd::make_normalized_convolution>("normalized_conv2d"),
          entry<winograd::make_normalized_kernel_gradient>("normalized_conv2d_kernel_gradient")};
}

}  // namespace mezzo::xsimd_kernels
