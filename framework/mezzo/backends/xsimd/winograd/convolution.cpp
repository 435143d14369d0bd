#include <algorithm>
#include <array>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/winograd/geometry.hpp>
#include <mezzo/backends/xsimd/winograd/winograd.hpp>
#include <mezzo/compiler/packed_constants.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using winograd::Geometry;

/// The convolution of images by a kernel, for conv2d and its input gradient.
class Convolution {
 public:
  Convolution(Isa isa, const Geometry& geometry, DType in, DType out)
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
    in_ = winograd::points(nullptr, chunk_, spread_width(depth_));
    out_ = winograd::points(nullptr, chunk_, spread_width(columns_));
    kernel_ = winograd::points(nullptr, depth_, products_.panel);
  }

  std::int64_t panels() const { return columns_ / products_.panel; }
  /// Memory of the points of the kernel.
  std::int64_t kernel_floats() const { return panels() * winograd::floats_of(kernel_); }
  /// Scratch memory of all threads.
  std::int64_t floats() const { return threads_ * (winograd::floats_of(in_) + winograd::floats_of(out_)); }

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

  /// Convolves the images by the kernel with these points.
  void run(const void* in, const float* kernel, const WinogradEpilogue& epilogue, void* out, float* scratch) const {
    const std::int64_t chunks = (geometry_.tiles + chunk_ - 1) / chunk_;
    const auto threads = static_cast<int>(std::min<std::int64_t>({threads_, thread_count(), chunks}));
    parallel_threads(threads, [&](int thread, int count) {
      float* own = scratch + thread * (winograd::floats_of(in_) + winograd::floats_of(out_));
      const std::int64_t last = geometry_.tiles * (thread + 1) / count;
      for (std::int64_t tile = geometry_.tiles * thread / count; tile < last; tile += chunk_) {
        run_chunk(in, kernel, epilogue, out, own, tile, std::min(last, tile + chunk_));
      }
    });
  }

 private:
  void run_chunk(const void* in, const float* kernel, const WinogradEpilogue& epilogue, void* out, float* own,
                 std::int64_t begin, std::int64_t end) const {
    Points a = in_, c = out_;
    a.data = own;
    c.data = own + winograd::floats_of(in_);
    gather_(in, geometry_.x, begin, end, a);
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
    std::array<std::uint16_t, most_tiles> zeros;
    for (std::int64_t tile = begin; tile < end; ++tile) {
      zeros[static_cast<std::size_t>(tile - begin)] = winograd::zero_outputs(occupied_, in, geometry_.x, tile);
    }
    scatter_(c, geometry_.y, begin, end, zeros.data(), epilogue, out);
  }

  static constexpr std::int64_t most_tiles = 96;  // of a chunk

  const ProductFunctions& products_;
  Geometry geometry_;
  WinogradFunctions::Gather gather_;
  WinogradFunctions::Occupied occupied_;
  WinogradFunctions::Scatter scatter_;
  std::int64_t depth_, columns_, threads_, chunk_ = 0;
  Points in_, out_, kernel_;
};

class Forward final : public Kernel {
 public:
  Forward(Isa isa, const KernelRequest& request)
      : convolution_(isa, winograd::of_convolution(request), request.inputs[0].dtype, request.outputs[0].dtype),
        pack_(kernels(isa).winograd.kernel[request.inputs[1].dtype]),
        has_bias_(has_bias(request)),
        residual_(residual_of(request)),
        limits_(limits_of(request)) {
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
    const float* points = packed_ ? static_cast<const float*>(packed_->data()) : nullptr;
    if (points == nullptr) {
      auto* const own = reinterpret_cast<float*>(scratch + points_);
      convolution_.pack(pack_, arguments.inputs[1], own);
      points = own;
    }
    const WinogradEpilogue epilogue{.bias = static_cast<const float*>(bias),
                                    .residual = residual_ ? arguments.inputs[*residual_] : nullptr,
                                    .least = limits_.least,
                                    .most = limits_.most};
    convolution_.run(arguments.inputs[0], points, epilogue, arguments.outputs[0],
                     reinterpret_cast<float*>(scratch + threads_memory_));
  }
  std::size_t scratch_bytes() const override {
    return scratch_.size() + (widen_bias_ ? widen_bias_->scratch_bytes() : 0);
  }
  std::string detail() const override { return packed_ ? "F(4x4,3x3), packed" : "F(4x4,3x3)"; }

 private:
  Convolution convolution_;
  WinogradFunctions::Kernel pack_;
  bool has_bias_;
  std::optional<std::size_t> residual_;
  Limits limits_;
  ScratchLayout scratch_;
  std::shared_ptr<const detail::PackedConstant> packed_;            // points of a constant kernel
  std::unique_ptr<Kernel> widen_bias_;                              // of another dtype than float32
  std::size_t threads_memory_ = 0, points_ = 0, widened_bias_ = 0;  // offsets in scratch memory
};

class InputGradient final : public Kernel {
 public:
  InputGradient(Isa isa, const KernelRequest& request)
      : convolution_(isa, winograd::of_input_gradient(request), request.inputs[0].dtype, request.outputs[0].dtype),
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
    convolution_.pack(pack_, turned, points);
    const Limits none;
    convolution_.run(arguments.inputs[0], points, {.least = none.least, .most = none.most}, arguments.outputs[0],
                     scratch);
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(convolution_.floats() + convolution_.kernel_floats() + 9 * channels_ * filters_) *
           sizeof(float);
  }
  std::string detail() const override { return "F(4x4,3x3)"; }

 private:
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
  return std::make_unique<Forward>(isa, request);
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

}  // namespace mezzo::xsimd_kernels
