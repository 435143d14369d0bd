#include <cstdint>

#include <mezzo/backends/common/part_codes.hpp>
#include <mezzo/backends/reference/convolution_geometry.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/tiled_product.hpp>

// Convolutions whose operands are quantized to int8: each image, or cotangent of one, has a scale, and each filter, or
// in the gradient each channel of the kernel. Sums are exact integers. Scales are multiplied, and bias and ReLU
// applied, in float32.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;
using ByteCodes = PartCodes<std::int8_t>;

/// Sum of the products of codes over the places of the kernel: at(row, column) gives `count` codes under a place, or
/// null. Codes of a place of the kernel lie at a distance of `step` from `kernel` on.
template <class At>
Index sum_of_places(const Geometry& g, const At& at, Index count, const std::int8_t* kernel, Index step) {
  Index sum = 0;
  for (Index place = 0; place < g.kernel_height * g.kernel_width; ++place, kernel += g.channels * g.filters) {
    const std::int8_t* const codes = at(place / g.kernel_width, place % g.kernel_width);
    for (Index i = 0; codes != nullptr && i < count; ++i) sum += static_cast<Index>(codes[i]) * kernel[i * step];
  }
  return sum;
}

template <class T>
std::unique_ptr<Kernel> int8_conv2d(const KernelRequest& request) {
  const Geometry g = geometry(request, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape);
  const bool biased = request.inputs.size() > 2, relu = has_relu(request);
  ScratchLayout layout;
  const ByteCodes images(1, g.batch, g.height * g.width * g.channels, layout);
  const ByteCodes kernel(g.kernel_height * g.kernel_width * g.channels, g.filters, 1, layout);
  const auto run = [=](const KernelArguments& arguments) {
    images.quantize(arguments.in<T>(0), arguments.scratch);
    kernel.quantize(arguments.in<T>(1), arguments.scratch);
    const std::int8_t *const x = images.codes(arguments.scratch), *const filters = kernel.codes(arguments.scratch);
    const auto *of_image = images.scales(arguments.scratch), *of_filter = kernel.scales(arguments.scratch);
    const T* const bias = biased ? arguments.in<T>(2) : nullptr;
    parallel_for(g.batch * g.out_height * g.out_width, grain_of(g.filters), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Place output = place_of(i, g.out_height, g.out_width);
        const auto codes_under = [&](Index row, Index column) { return under(g, x, output, row, column); };
        for (Index f = 0; f < g.filters; ++f) {
          const Index sum = sum_of_places(g, codes_under, g.channels, filters + f, g.filters);
          const T y =
              detail::Int8Scale::product(static_cast<float>(sum), of_image[output.image].scale, of_filter[f].scale);
          arguments.out<T>(0)[i * g.filters + f] = finish(y, bias, f, relu);
        }
      }
    });
  };
  return make_kernel(run, {}, layout.size());
}

template <class T, class Out>
std::unique_ptr<Kernel> int8_input_gradient(const KernelRequest& request) {
  const Geometry g = geometry(request, request.outputs[0].shape, request.inputs[1].shape, request.inputs[0].shape);
  ScratchLayout layout;
  const ByteCodes cotangents(1, g.batch, g.out_height * g.out_width * g.filters, layout);
  const ByteCodes kernel(g.kernel_height * g.kernel_width, g.channels, g.filters, layout);
  const auto run = [=](const KernelArguments& arguments) {
    cotangents.quantize(arguments.in<T>(0), arguments.scratch);
    kernel.quantize(arguments.in<T>(1), arguments.scratch);
    const std::int8_t *const y = cotangents.codes(arguments.scratch), *const channels = kernel.codes(arguments.scratch);
    const auto *of_image = cotangents.scales(arguments.scratch), *of_channel = kernel.scales(arguments.scratch);
    parallel_for(g.batch * g.height * g.width, grain_of(g.channels), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Place input = place_of(i, g.height, g.width);
        const auto codes_above = [&](Index row, Index column) { return above(g, y, input, row, column); };
        for (Index c = 0; c < g.channels; ++c) {
          const Index sum = sum_of_places(g, codes_above, g.filters, channels + c * g.filters, 1);
          arguments.out<Out>(0)[i * g.channels + c] =
              detail::Int8Scale::product(static_cast<float>(sum), of_image[input.image].scale, of_channel[c].scale);
        }
      }
    });
  };
  return make_kernel(run, {}, layout.size());
}

}  // namespace

std::unique_ptr<Kernel> create_int8_conv2d(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return int8_conv2d<decltype(zero)>(request); });
}

std::unique_ptr<Kernel> create_int8_conv2d_input_gradient(const KernelRequest& request, std::string& reason) {
  return for_input_and_output(request, reason, [&](auto zero, auto out_zero) {
    return int8_input_gradient<decltype(zero), decltype(out_zero)>(request);
  });
}

}  // namespace mezzo::reference
