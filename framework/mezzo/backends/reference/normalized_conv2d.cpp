#include <limits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

// Normalizes x in scratch memory, and runs the convolution on it.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

template <class T>
std::unique_ptr<Kernel> normalized(const KernelRequest& request, std::unique_ptr<Kernel> convolution) {
  const Index channels = request.inputs[0].shape.back();
  const Index rows = channels == 0 ? 0 : element_count(request.inputs[0].shape) / channels;
  const double most = request.attributes.get_or("max_value", std::numeric_limits<double>::quiet_NaN());
  ScratchLayout layout;
  layout.take(bytes_of(request.inputs[0]));
  const std::size_t rest = layout.take(convolution->scratch_bytes());
  const auto run = [=, of_normalized = std::shared_ptr<Kernel>(std::move(convolution))](const KernelArguments& k) {
    const T *x = k.in<T>(0), *gamma = k.in<T>(2), *mean = k.in<T>(3), *inverse = k.in<T>(4), *shift = k.in<T>(5);
    T* const y = static_cast<T*>(k.scratch);
    parallel_for(rows, grain_of(channels), [&](Index begin, Index end) {
      for (Index i = begin * channels; i < end * channels; ++i) {
        const Index c = i % channels;
        const double scale = static_cast<double>(inverse[c]) * static_cast<double>(gamma[c]);
        const double centred = static_cast<double>(x[i]) - static_cast<double>(mean[c]);
        const auto value = static_cast<T>(centred * scale + static_cast<double>(shift[c]));
        y[i] = static_cast<T>(value < 0 ? 0 : value > most ? most : value);
      }
    });
    const void* const inputs[] = {y, k.inputs[1]};
    of_normalized->run({inputs, k.outputs, static_cast<char*>(k.scratch) + rest});
  };
  return make_kernel(run, {}, layout.size());
}

std::unique_ptr<Kernel> make_normalized(const KernelRequest& request, Creator* create, std::string& reason) {
  KernelRequest of_normalized = request;
  of_normalized.inputs.resize(2);
  auto convolution = create(of_normalized, reason);
  if (!convolution) return nullptr;
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return normalized<decltype(zero)>(request, std::move(convolution)); });
}

}  // namespace

std::unique_ptr<Kernel> create_normalized_conv2d(const KernelRequest& request, std::string& reason) {
  return make_normalized(request, create_conv2d, reason);
}

std::unique_ptr<Kernel> create_normalized_conv2d_kernel_gradient(const KernelRequest& request, std::string& reason) {
  return make_normalized(request, create_conv2d_kernel_gradient, reason);
}

}  // namespace mezzo::reference
