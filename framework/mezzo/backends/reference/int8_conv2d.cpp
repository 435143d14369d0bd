#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/convolution_geometry.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/tiled_product.hpp>
#include <mezzo/core/int8_scale.hpp>

// Convolutions whose operands are quantized to int8: each image, or cotangent of one, has a scale, and each filter, or
// in the gradient each channel of the kernel. Sums are exact integers. Scales are multiplied, and bias and ReLU
// applied, in float32.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Codes and scales of parts of an array, in scratch memory. The part of an element is index / inner % parts.
class PartCodes {
 public:
  PartCodes(Index size, Index parts, Index inner, ScratchLayout& layout)
      : size_(size),
        parts_(parts),
        inner_(inner),
        codes_(layout.take(static_cast<std::size_t>(size))),
        scales_(layout.take(static_cast<std::size_t>(parts) * sizeof(detail::Int8Scale))) {}

  std::int8_t* codes(const KernelArguments& arguments) const {
    return static_cast<std::int8_t*>(arguments.scratch) + codes_;
  }
  detail::Int8Scale* scales(const KernelArguments& arguments) const {
    return reinterpret_cast<detail::Int8Scale*>(static_cast<char*>(arguments.scratch) + scales_);
  }

  template <class T>
  void quantize(const KernelArguments& arguments, const T* x) const {
    detail::Int8Scale* const scale = scales(arguments);
    for (Index part = 0; part < parts_; ++part) scale[part].scale = 0;  // the largest magnitude so far
    for (Index i = 0; i < size_; ++i) {
      float& largest = scale[i / inner_ % parts_].scale;
      largest = detail::larger_magnitude(largest, static_cast<float>(x[i]));
    }
    for (Index part = 0; part < parts_; ++part) scale[part] = detail::Int8Scale(scale[part].scale);
    for (Index i = 0; i < size_; ++i) {
      codes(arguments)[i] = static_cast<std::int8_t>(scale[i / inner_ % parts_].code(static_cast<float>(x[i])));
    }
  }

 private:
  Index size_, parts_, inner_;
  std::size_t codes_, scales_;
};

/// Sum of the products of codes for an output and a filter.
Index output_sum(const Geometry& g, const std::int8_t* x, const std::int8_t* kernel, const Place& output,
                 Index filter) {
  Index sum = 0;
  for (Index place = 0; place < g.kernel_height * g.kernel_width; ++place) {
    const std::int8_t* const channels = under(g, x, output, place / g.kernel_width, place % g.kernel_width);
    for (Index c = 0; channels != nullptr && c < g.channels; ++c) {
      sum += static_cast<Index>(channels[c]) * kernel[(place * g.channels + c) * g.filters + filter];
    }
  }
  return sum;
}

/// Sum of the products of codes of cotangents and kernel for a pixel and a channel of the input.
Index input_sum(const Geometry& g, const std::int8_t* cotangent, const std::int8_t* kernel, const Place& input,
                Index channel) {
  Index sum = 0;
  for (Index place = 0; place < g.kernel_height * g.kernel_width; ++place) {
    const std::int8_t* const filters = above(g, cotangent, input, place / g.kernel_width, place % g.kernel_width);
    for (Index f = 0; filters != nullptr && f < g.filters; ++f) {
      sum += static_cast<Index>(filters[f]) * kernel[(place * g.channels + channel) * g.filters + f];
    }
  }
  return sum;
}

template <class T>
std::unique_ptr<Kernel> int8_conv2d(const KernelRequest& request) {
  const Geometry g = geometry(request, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape);
  const bool biased = request.inputs.size() > 2, relu = has_relu(request);
  ScratchLayout layout;
  const Index image = g.height * g.width * g.channels;
  const PartCodes images(g.batch * image, g.batch, image, layout);
  const PartCodes kernel(element_count(request.inputs[1].shape), g.filters, 1, layout);
  const auto run = [=](const KernelArguments& arguments) {
    images.quantize(arguments, arguments.in<T>(0));
    kernel.quantize(arguments, arguments.in<T>(1));
    const T* const bias = biased ? arguments.in<T>(2) : nullptr;
    parallel_for(g.batch * g.out_height * g.out_width, grain_of(g.filters), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Place output = place_of(i, g.out_height, g.out_width);
        for (Index f = 0; f < g.filters; ++f) {
          const Index sum = output_sum(g, images.codes(arguments), kernel.codes(arguments), output, f);
          const T y = detail::Int8Scale::product(static_cast<float>(sum), images.scales(arguments)[output.image].scale,
                                                 kernel.scales(arguments)[f].scale);
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
  const Index image = g.out_height * g.out_width * g.filters;
  const PartCodes cotangents(g.batch * image, g.batch, image, layout);
  const PartCodes kernel(element_count(request.inputs[1].shape), g.channels, g.filters, layout);
  const auto run = [=](const KernelArguments& arguments) {
    cotangents.quantize(arguments, arguments.in<T>(0));
    kernel.quantize(arguments, arguments.in<T>(1));
    parallel_for(g.batch * g.height * g.width, grain_of(g.channels), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Place input = place_of(i, g.height, g.width);
        for (Index c = 0; c < g.channels; ++c) {
          const Index sum = input_sum(g, cotangents.codes(arguments), kernel.codes(arguments), input, c);
          arguments.out<Out>(0)[i * g.channels + c] =
              detail::Int8Scale::product(static_cast<float>(sum), cotangents.scales(arguments)[input.image].scale,
                                         kernel.scales(arguments)[c].scale);
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
