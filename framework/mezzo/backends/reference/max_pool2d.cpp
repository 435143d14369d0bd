#include <algorithm>
#include <cstdint>
#include <limits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/pool_geometry.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

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

}  // namespace mezzo::reference
