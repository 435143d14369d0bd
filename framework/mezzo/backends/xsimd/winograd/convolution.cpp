#include <algorithm>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/winograd/geometry.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using winograd::Geometry;

/// What convolution and input gradient share: images in, images out, by a kernel at 36 points.
class Convolution {
 public:
  Convolution(Isa isa, const Geometry& geometry, DType in, DType out)
      : products_(product_functions(isa)),
        geometry_(geometry),
        gather_(winograd_functions(isa).gather[storage_of(in)]),
        scatter_(winograd_functions(isa).scatter[storage_of(out)]),
        depth_(geometry.x.channels),
        columns_(round_up(geometry.y.channels, products_.panel)),
        threads_(thread_count()) {
    // Tiles that are worked on together: their points and products should stay in the second level's cache, while the
    // kernel, which is read anew for each chunk, should be read seldom.
    const std::int64_t share = (geometry.tiles + threads_ - 1) / threads_;
    chunk_ = std::min(share, depth_ + columns_ <= 256 ? std::int64_t{48} : std::int64_t{96});
    in_ = winograd::points(nullptr, chunk_, spread_width(depth_));
    out_ = winograd::points(nullptr, chunk_, spread_width(columns_));
    kernel_ = winograd::points(nullptr, depth_, products_.panel);
  }

  std::int64_t panels() const { return columns_ / products_.panel; }
  std::int64_t kernel_floats() const { return panels() * winograd::floats_of(kernel_); }
  std::int64_t floats() const {
    return kernel_floats() + threads_ * (winograd::floats_of(in_) + winograd::floats_of(out_));
  }

  /// Fills the kernel's points: from (3, 3, depth, columns).
  void pack(WinogradFunctions::Kernel points_of, const void* kernel, float* scratch) const {
    const std::int64_t columns = geometry_.y.channels;
    parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        points_of(kernel, depth_, columns, i * products_.panel, std::min(columns, (i + 1) * products_.panel),
                  panel(scratch, i));
      }
    });
  }

  void run(const void* in, void* out, const float* bias, bool relu, float* scratch) const {
    const std::int64_t chunks = (geometry_.tiles + chunk_ - 1) / chunk_;
    const auto threads = static_cast<int>(std::min<std::int64_t>({threads_, thread_count(), chunks}));
    parallel_threads(threads, [&](int thread, int count) {
      float* own = scratch + kernel_floats() + thread * (winograd::floats_of(in_) + winograd::floats_of(out_));
      const std::int64_t last = geometry_.tiles * (thread + 1) / count;
      for (std::int64_t tile = geometry_.tiles * thread / count; tile < last; tile += chunk_) {
        run_chunk(in, out, bias, relu, scratch, own, tile, std::min(last, tile + chunk_));
      }
    });
  }

 private:
  Points panel(float* scratch, std::int64_t i) const {
    return {scratch + i * winograd::floats_of(kernel_), kernel_.pitch, kernel_.width};
  }

  void run_chunk(const void* in, void* out, const float* bias, bool relu, float* kernel, float* own, std::int64_t begin,
                 std::int64_t end) const {
    Points a = in_, c = out_;
    a.data = own;
    c.data = own + winograd::floats_of(in_);
    gather_(in, geometry_.x, begin, end, a);
    for (std::int64_t point = 0; point < winograd_points; ++point) {
      for (std::int64_t i = 0; i < panels(); ++i) {
        const Points b = panel(kernel, i);
        products_.product({a.data + point * a.pitch, a.width, b.data + point * b.pitch, b.width,
                           c.data + point * c.pitch + i * products_.panel, c.width, end - begin, depth_, false});
      }
    }
    scatter_(c, geometry_.y, begin, end, bias, relu, out);
  }

  const ProductFunctions& products_;
  Geometry geometry_;
  WinogradFunctions::Gather gather_;
  WinogradFunctions::Scatter scatter_;
  std::int64_t depth_, columns_, threads_, chunk_ = 0;
  Points in_, out_, kernel_;
};

class Forward final : public Kernel {
 public:
  Forward(Isa isa, const KernelRequest& request)
      : convolution_(isa, winograd::of_convolution(request), request.inputs[0].dtype, request.outputs[0].dtype),
        pack_(winograd_functions(isa).kernel[storage_of(request.inputs[1].dtype)]),
        bias_(request.inputs.size() > 2),
        relu_(has_relu(request)) {}

  void run(const KernelArguments& arguments) override {
    auto* scratch = static_cast<float*>(arguments.scratch);
    convolution_.pack(pack_, arguments.inputs[1], scratch);
    convolution_.run(arguments.inputs[0], arguments.outputs[0], bias_ ? arguments.in<float>(2) : nullptr, relu_,
                     scratch);
  }
  std::size_t scratch_bytes() const override { return static_cast<std::size_t>(convolution_.floats()) * sizeof(float); }
  std::string detail() const override { return "F(4x4,3x3)"; }

 private:
  Convolution convolution_;
  WinogradFunctions::Kernel pack_;
  bool bias_, relu_;
};

class InputGradient final : public Kernel {
 public:
  InputGradient(Isa isa, const KernelRequest& request)
      : convolution_(isa, winograd::of_input_gradient(request), request.inputs[0].dtype, request.outputs[0].dtype),
        pack_(winograd_functions(isa).kernel[0]),
        turn_(winograd_functions(isa).turn[storage_of(request.inputs[1].dtype)]),
        channels_(request.outputs[0].shape[3]),
        filters_(request.inputs[0].shape[3]) {}

  void run(const KernelArguments& arguments) override {
    auto* scratch = static_cast<float*>(arguments.scratch);
    float* turned = scratch + convolution_.floats();
    constexpr std::int64_t unit = 16;
    parallel_for((channels_ + unit - 1) / unit, 1, [&](std::int64_t begin, std::int64_t end) {
      turn_(arguments.inputs[1], channels_, filters_, begin * unit, std::min(channels_, end * unit), turned);
    });
    convolution_.pack(pack_, turned, scratch);
    convolution_.run(arguments.inputs[0], arguments.outputs[0], nullptr, false, scratch);
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(convolution_.floats() + 9 * channels_ * filters_) * sizeof(float);
  }
  std::string detail() const override { return "F(4x4,3x3)"; }

 private:
  Convolution convolution_;
  WinogradFunctions::Kernel pack_;
  WinogradFunctions::Turn turn_;
  std::int64_t channels_, filters_;
};

std::unique_ptr<Kernel> make_forward(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& y = request.outputs[0].shape;
  if (!winograd::takes(request, request.inputs[0].shape, request.inputs[1].shape, y, reason)) return nullptr;
  if (request.inputs.size() > 2 && request.inputs[2].dtype != DType::float32) {
    return decline(reason, "winograd takes a bias in float32");
  }
  return std::make_unique<Forward>(isa, request);
}

std::unique_ptr<Kernel> make_input_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& x = request.outputs[0].shape;
  if (!winograd::takes(request, x, request.inputs[1].shape, request.inputs[0].shape, reason)) return nullptr;
  return std::make_unique<InputGradient>(isa, request);
}

}  // namespace

Entries winograd_entries() {
  return {entry<make_forward>("conv2d"), entry<make_input_gradient>("conv2d_input_gradient")};
}

}  // namespace mezzo::xsimd_kernels
