#include <mezzo/backends/xsimd/relu_bias_gradient.hpp>

#include <mezzo/backends/xsimd/channels.hpp>

namespace mezzo::xsimd_kernels {
namespace {

std::unique_ptr<Kernel> make_relu_bias_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Channels channels(request.inputs[0]);
  const auto run =
      [channels, mask_and_sum = kernels(isa).relu_bias_gradient.mask_and_sum[dtype]](const KernelArguments& arguments) {
        auto* sums = static_cast<double*>(arguments.scratch);
        std::fill_n(sums, channels.columns, 0.0);
        channels.for_blocks([&](std::int64_t offset, std::int64_t rows, std::int64_t place) {
          mask_and_sum(arguments.in<char>(0) + offset, arguments.in<char>(1) + offset, arguments.out<char>(0) + offset,
                       rows, channels.columns, sums + place);
        });
        channels.add_blocks(sums);
        for (std::int64_t c = 0; c < channels.columns; ++c) arguments.out<float>(1)[c] = static_cast<float>(sums[c]);
      };
  return make_kernel(run, {true, true}, channels.doubles() * sizeof(double));
}

}  // namespace

Entries relu_bias_gradient_entries() { return {entry<make_relu_bias_gradient>("relu_bias_gradient")}; }

}  // namespace mezzo::xsimd_kernels
