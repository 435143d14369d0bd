#include <algorithm>
#include <cstdint>
#include <limits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Sizes of images before and after pooling, with the attributes window, strides and padding.
struct PoolGeometry {
  std::int64_t batch, height, width, channels, out_height, out_width;
  std::int64_t window_height, window_width, stride_height, stride_width, top, left;

  /// Computes the offset in an image of x of place `place` in the window of output (row, column). Returns false if
  /// that place is in the padding.
  bool locate(std::int64_t row, std::int64_t column, std::int64_t place, std::int64_t& offset) const {
    const std::int64_t h = row * stride_height - top + place / window_width;
    const std::int64_t w = column * stride_width - left + place % window_width;
    offset = (h * width + w) * channels;
    return h >= 0 && h < height && w >= 0 && w < width;
  }
};

/// The geometry of pooling x to y.
PoolGeometry pool_geometry(const KernelRequest& request, const Shape& x, const Shape& y) {
  const auto& window = request.attributes.get<Shape>("window");
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  return {.batch = x[0],
          .height = x[1],
          .width = x[2],
          .channels = x[3],
          .out_height = y[1],
          .out_width = y[2],
          .window_height = window[0],
          .window_width = window[1],
          .stride_height = strides[0],
          .stride_width = strides[1],
          .top = padding[0],
          .left = padding[2]};
}

/// True if the candidate is greater, or the first NaN.
template <class T>
bool above(T candidate, T best) {
  return candidate > best || (candidate != candidate && best == best);
}

/// Computes one output place, all channels.
template <class T, class Place>
void pool(const PoolGeometry& g, const T* image, Index row, Index column, T* out, Place* places) {
  bool first = true;
  for (Index place = 0; place < g.window_height * g.window_width; ++place) {
    Index offset = 0;
    if (!g.locate(row, column, place, offset)) continue;
    for (Index c = 0; c < g.channels; ++c) {
      if (!first && !above(image[offset + c], out[c])) continue;
      out[c] = image[offset + c];
      places[c] = static_cast<Place>(place);
    }
    first = false;
  }
  if (first) {
    std::fill_n(out, g.channels, -std::numeric_limits<T>::infinity());
    std::fill_n(places, g.channels, Place{0});
  }
}

template <class T, class Place>
std::unique_ptr<Kernel> max_pool2d(const PoolGeometry& g) {
  return make_kernel([g](const KernelArguments& arguments) {
    parallel_for(g.batch * g.out_height, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const T* image = arguments.in<T>(0) + i / g.out_height * g.height * g.width * g.channels;
        for (Index column = 0; column < g.out_width; ++column) {
          const Index to = (i * g.out_width + column) * g.channels;
          pool(g, image, i % g.out_height, column, arguments.out<T>(0) + to, arguments.out<Place>(1) + to);
        }
      }
    });
  });
}

template <class T, class Place>
std::unique_ptr<Kernel> max_pool2d_gradient(const PoolGeometry& g) {
  return make_kernel([g](const KernelArguments& arguments) {
    const Index image_size = g.height * g.width * g.channels;
    parallel_for(g.batch, 1, [&](Index begin, Index end) {
      std::fill(arguments.out<T>(0) + begin * image_size, arguments.out<T>(0) + end * image_size, T{0});
      for (Index i = begin * g.out_height * g.out_width; i < end * g.out_height * g.out_width; ++i) {
        T* image = arguments.out<T>(0) + i / (g.out_height * g.out_width) * image_size;
        for (Index c = 0; c < g.channels; ++c) {
          const Index from = i * g.channels + c;
          Index offset = 0;
          if (g.locate(i / g.out_width % g.out_height, i % g.out_width, arguments.in<Place>(1)[from], offset)) {
            image[offset + c] += arguments.in<T>(0)[from];
          }
        }
      }
    });
  });
}

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

std::unique_ptr<Kernel> create_max_pool2d(const KernelRequest& request, std::string& reason) {
  const PoolGeometry g = pool_geometry(request, request.inputs[0].shape, request.outputs[0].shape);
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return request.outputs[1].dtype == DType::uint8 ? max_pool2d<T, std::uint8_t>(g) : max_pool2d<T, std::int32_t>(g);
  });
}

std::unique_ptr<Kernel> create_max_pool2d_gradient(const KernelRequest& request, std::string& reason) {
  const PoolGeometry g = pool_geometry(request, request.outputs[0].shape, request.inputs[0].shape);
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return request.inputs[1].dtype == DType::uint8 ? max_pool2d_gradient<T, std::uint8_t>(g)
                                                   : max_pool2d_gradient<T, std::int32_t>(g);
  });
}

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
