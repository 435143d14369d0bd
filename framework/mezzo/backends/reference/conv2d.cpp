#include <algorithm>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/convolution_geometry.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/tiled_product.hpp>

// Each kernel is one matrix product for each group, with one operand gathered from the image tile by tile. Rows are
// places of the output (of the kernel, in its gradient); depth is the summed index.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Moves on to the next place.
void advance(Place& place, Index height, Index width) {
  if (++place.column < width) return;
  place.column = 0;
  if (++place.row < height) return;
  place.row = 0;
  ++place.image;
}

/// Copies the depth indices [k, k + count) of one row. Depth runs over the kernel's places and over `inner` channels at
/// each place; at(place) is the address of the first channel, or null in the padding, where the elements are 0.
template <class T, class At>
void gather(Index k, Index count, Index inner, T* to, const At& at) {
  for (Index done = 0; done < count;) {
    const Index channel = (k + done) % inner;
    const Index now = std::min(inner - channel, count - done);
    const T* from = at((k + done) / inner);
    if (from == nullptr) {
      std::fill_n(to + done, now, T{0});
    } else {
      std::copy_n(from + channel, now, to + done);
    }
    done += now;
  }
}

/// pointer + by; null stays null.
template <class T>
const T* shifted(const T* pointer, Index by) {
  return pointer == nullptr ? nullptr : pointer + by;
}

/// A `store` function for tiled_product: copies sums to rows of `width`, in which each group has a separate part.
template <class T, class Out>
auto store_rows(Out* out, Index width, Index group_width) {
  return [=](Index group, Index i, Index j, Index count, const T* sums) {
    std::copy_n(sums, count, out + i * width + group * group_width + j);
  };
}

template <class T>
std::unique_ptr<Kernel> conv2d(const KernelRequest& request) {
  const Geometry g = geometry(request, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape);
  const bool has_bias = request.inputs.size() > 2;
  const bool relu = has_relu(request);
  const ProductSize size{.batches = g.groups,
                         .rows = g.batch * g.out_height * g.out_width,
                         .columns = g.group_filters,
                         .depth = g.kernel_height * g.kernel_width * g.group_channels};
  return make_kernel([=](const KernelArguments& arguments) {
    const T* x = arguments.in<T>(0);
    const T* kernel = arguments.in<T>(1);
    const T* bias = has_bias ? arguments.in<T>(2) : nullptr;
    tiled_product<T>(
        size,
        [&](Index group, Index i, Index k, Index count, T* to) {
          const Place output = place_of(i, g.out_height, g.out_width);
          gather(k, count, g.group_channels, to, [&](Index place) {
            const T* channels = under(g, x, output, place / g.kernel_width, place % g.kernel_width);
            return shifted(channels, group * g.group_channels);
          });
        },
        [&](Index group, Index k, Index j, Index count, T* to) {
          std::copy_n(kernel + k * g.filters + group * g.group_filters + j, count, to);
        },
        [&](Index group, Index i, Index j, Index count, const T* sums) {
          const Index filter = group * g.group_filters + j;
          T* out = arguments.out<T>(0) + i * g.filters + filter;
          for (Index n = 0; n < count; ++n) out[n] = finish(sums[n], bias, filter + n, relu);
        });
  });
}

template <class T, class Out>
std::unique_ptr<Kernel> input_gradient(const KernelRequest& request) {
  const Geometry g = geometry(request, request.outputs[0].shape, request.inputs[1].shape, request.inputs[0].shape);
  const ProductSize size{.batches = g.groups,
                         .rows = g.batch * g.height * g.width,
                         .columns = g.group_channels,
                         .depth = g.kernel_height * g.kernel_width * g.group_filters};
  return make_kernel([=](const KernelArguments& arguments) {
    const T* gradient = arguments.in<T>(0);
    const T* kernel = arguments.in<T>(1);
    tiled_product<T>(
        size,
        [&](Index group, Index i, Index k, Index count, T* to) {
          const Place input = place_of(i, g.height, g.width);
          gather(k, count, g.group_filters, to, [&](Index place) {
            const T* filters = above(g, gradient, input, place / g.kernel_width, place % g.kernel_width);
            return shifted(filters, group * g.group_filters);
          });
        },
        [&](Index group, Index k, Index j, Index count, T* to) {
          const Index place = k / g.group_filters, filter = group * g.group_filters + k % g.group_filters;
          const T* from = kernel + (place * g.group_channels + j) * g.filters + filter;
          for (Index n = 0; n < count; ++n) to[n] = from[n * g.filters];
        },
        store_rows<T>(arguments.out<Out>(0), g.channels, g.group_channels));
  });
}

template <class T, class Out>
std::unique_ptr<Kernel> kernel_gradient(const KernelRequest& request) {
  const Geometry g = geometry(request, request.inputs[0].shape, request.outputs[0].shape, request.inputs[1].shape);
  const ProductSize size{.batches = g.groups,
                         .rows = g.kernel_height * g.kernel_width * g.group_channels,
                         .columns = g.group_filters,
                         .depth = g.batch * g.out_height * g.out_width};
  return make_kernel([=](const KernelArguments& arguments) {
    const T* x = arguments.in<T>(0);
    const T* gradient = arguments.in<T>(1);
    tiled_product<T>(
        size,
        [&](Index group, Index i, Index k, Index count, T* to) {
          const Index place = i / g.group_channels, channel = group * g.group_channels + i % g.group_channels;
          Place output = place_of(k, g.out_height, g.out_width);
          for (Index n = 0; n < count; ++n, advance(output, g.out_height, g.out_width)) {
            const T* channels = under(g, x, output, place / g.kernel_width, place % g.kernel_width);
            to[n] = channels == nullptr ? T{0} : channels[channel];
          }
        },
        [&](Index group, Index k, Index j, Index count, T* to) {
          std::copy_n(gradient + k * g.filters + group * g.group_filters + j, count, to);
        },
        store_rows<T>(arguments.out<Out>(0), g.filters, g.group_filters));
  });
}

}  // namespace

std::unique_ptr<Kernel> create_conv2d(const KernelRequest& request, std::string& reason) {
  if (request.attributes.has("products")) return create_int8_conv2d(request, reason);
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return conv2d<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_conv2d_input_gradient(const KernelRequest& request, std::string& reason) {
  if (request.attributes.has("products")) return create_int8_conv2d_input_gradient(request, reason);
  return for_input_and_output(request, reason, [&](auto zero, auto out_zero) {
    return input_gradient<decltype(zero), decltype(out_zero)>(request);
  });
}

std::unique_ptr<Kernel> create_conv2d_kernel_gradient(const KernelRequest& request, std::string& reason) {
  return for_input_and_output(request, reason, [&](auto zero, auto out_zero) {
    return kernel_gradient<decltype(zero), decltype(out_zero)>(request);
  });
}

}  // namespace mezzo::reference
