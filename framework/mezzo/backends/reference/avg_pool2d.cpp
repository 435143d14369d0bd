#include <algorithm>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/pool_geometry.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

struct Averages : PoolGeometry {
  bool count_padding;

  Averages(const KernelRequest& request, const Shape& x, const Shape& y)
      : PoolGeometry(pool_geometry(request, x, y)), count_padding(request.attributes.get<bool>("count_padding")) {}

  /// Calls body(offset) for each place of a window that lies in the image. Returns the divisor of the window's sum.
  template <class Body>
  Index window(Index row, Index column, const Body& body) const {
    Index inside = 0, offset = 0;
    const Index places = window_height * window_width;
    for (Index place = 0; place < places; ++place) {
      if (!locate(row, column, place, offset)) continue;
      body(offset);
      ++inside;
    }
    return count_padding ? places : std::max<Index>(inside, 1);
  }
};

template <class T>
std::unique_ptr<Kernel> avg_pool2d(const Averages& a) {
  return make_kernel([a](const KernelArguments& arguments) {
    parallel_for(a.batch * a.out_height, 1, [&](Index begin, Index end) {
      for (Index i = begin * a.out_width; i < end * a.out_width; ++i) {
        const Index row = i / a.out_width;
        const T* image = arguments.in<T>(0) + row / a.out_height * a.height * a.width * a.channels;
        T* out = arguments.out<T>(0) + i * a.channels;
        std::fill_n(out, a.channels, T{0});
        const Index count = a.window(row % a.out_height, i % a.out_width, [&](Index offset) {
          for (Index c = 0; c < a.channels; ++c) out[c] += image[offset + c];
        });
        for (Index c = 0; c < a.channels; ++c) out[c] /= static_cast<T>(count);
      }
    });
  });
}

template <class T>
std::unique_ptr<Kernel> avg_pool2d_gradient(const Averages& a) {
  return make_kernel([a](const KernelArguments& arguments) {
    const Index image_size = a.height * a.width * a.channels, places = a.out_height * a.out_width;
    parallel_for(a.batch, 1, [&](Index begin, Index end) {
      std::fill(arguments.out<T>(0) + begin * image_size, arguments.out<T>(0) + end * image_size, T{0});
      for (Index i = begin * places; i < end * places; ++i) {
        T* image = arguments.out<T>(0) + i / places * image_size;
        const T* g = arguments.in<T>(0) + i * a.channels;
        const Index row = i / a.out_width % a.out_height, column = i % a.out_width;
        const auto count = static_cast<T>(a.window(row, column, [](Index) {}));
        a.window(row, column, [&](Index offset) {
          for (Index c = 0; c < a.channels; ++c) image[offset + c] += g[c] / count;
        });
      }
    });
  });
}

}  // namespace

std::unique_ptr<Kernel> create_avg_pool2d(const KernelRequest& request, std::string& reason) {
  const Averages a(request, request.inputs[0].shape, request.outputs[0].shape);
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return avg_pool2d<decltype(zero)>(a); });
}

std::unique_ptr<Kernel> create_avg_pool2d_gradient(const KernelRequest& request, std::string& reason) {
  const Averages a(request, request.outputs[0].shape, request.inputs[0].shape);
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return avg_pool2d_gradient<decltype(zero)>(a); });
}

}  // namespace mezzo::reference
