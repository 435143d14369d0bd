#include <cmath>
#include <cstddef>
#include <cstdint>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/reference/convolution_geometry.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/row_codes.hpp>
#include <mezzo/ops/quantized_conv2d.hpp>

// Convolutions of codes: each image is quantized with one scale, and sums are exact integers.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Sum of the products of codes for an output and a filter.
Index sum_of_codes(const Geometry& g, const std::int8_t* x, const std::int8_t* kernel, const Place& output,
                   Index filter) {
  Index sum = 0;
  for (Index place = 0; place < g.kernel_height * g.kernel_width; ++place) {
    const std::int8_t* channels = under(g, x, output, place / g.kernel_width, place % g.kernel_width);
    if (channels == nullptr) continue;
    channels += filter / g.group_filters * g.group_channels;
    for (Index c = 0; c < g.group_channels; ++c) {
      sum += static_cast<Index>(channels[c]) * kernel[(place * g.group_channels + c) * g.filters + filter];
    }
  }
  return sum;
}

template <class T>
std::unique_ptr<Kernel> quantized_conv2d(const KernelRequest& request) {
  const Geometry g = geometry(request, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape);
  const detail::QuantizedConv2DOperands at(request.attributes);
  const Limits limits = limits_of(request);
  const Index image = g.height * g.width * g.channels, pixels = g.out_height * g.out_width;
  ScratchLayout layout;
  const std::size_t codes_at = layout.take(static_cast<std::size_t>(g.batch * image));
  const std::size_t scales_at = layout.take(static_cast<std::size_t>(g.batch) * sizeof(T));
  const auto run = [=](const KernelArguments& arguments) {
    auto* const codes = static_cast<std::int8_t*>(arguments.scratch) + codes_at;
    auto* const scales = reinterpret_cast<T*>(static_cast<std::byte*>(arguments.scratch) + scales_at);
    const float* const factor = at.factor ? arguments.in<float>(*at.factor) : nullptr;
    parallel_for(g.batch, grain_of(image), [&](Index begin, Index end) {
      for (Index n = begin; n < end; ++n) {
        quantize_row(arguments.in<T>(0) + n * image, image, factor, codes + n * image, scales[n]);
      }
    });
    const float* const scale = arguments.in<float>(2);
    const T* const bias = at.bias ? arguments.in<T>(*at.bias) : nullptr;
    const T* const residual = at.residual ? arguments.in<T>(*at.residual) : nullptr;
    parallel_for(g.batch * pixels, grain_of(g.filters), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Place output = place_of(i, g.out_height, g.out_width);
        const T of_image = scales[output.image];
        for (Index f = 0; f < g.filters; ++f) {
          // A NaN has no codes.
          T y = of_image;
          if (!std::isnan(of_image)) {
            y = static_cast<T>(sum_of_codes(g, codes, arguments.in<std::int8_t>(1), output, f)) /
                (of_image * static_cast<T>(scale[f]));
          }
          if (bias != nullptr) y += bias[f];
          if (residual != nullptr) y += residual[i * g.filters + f];
          arguments.out<T>(0)[i * g.filters + f] = y <= limits.least  ? limits.least
                                                   : y >= limits.most ? limits.most
                                                                      : y;
        }
      }
    });
  };
  return make_kernel(run, {}, layout.size());
}

}  // namespace

std::unique_ptr<Kernel> create_quantized_conv2d(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return quantized_conv2d<decltype(zero)>(request); });
}

}  // namespace mezzo::reference
