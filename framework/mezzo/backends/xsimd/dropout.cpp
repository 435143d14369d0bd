#include <mezzo/backends/xsimd/dropout.hpp>

#include <cmath>

#include <mezzo/backends/common/random.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

std::unique_ptr<Kernel> make_dropout(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  if (request.inputs.size() > 3) {
    reason = "elements are counted from another one than the first";
    return nullptr;
  }
  const double rate = request.attributes.get<double>("rate");
  const auto key = request.attributes.get<std::int64_t>("key");
  const auto least = static_cast<std::int32_t>(std::ceil(static_cast<float>(rate) * 0x1p24F));
  const auto run = [=, dropout = kernels(isa).dropout.dropout[dtype],
                    count = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
    const std::uint64_t stream = step_stream(key, *arguments.in<double>(1), *arguments.in<double>(2));
    const DropoutRule rule{.stream = stream, .least = least, .divisor = static_cast<float>(1 - rate)};
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      dropout(arguments.inputs[0], arguments.outputs[0], rule, begin, end);
    });
  };
  return make_kernel(run, like_output(request));
}

}  // namespace

Entries dropout_entries() { return {entry<make_dropout>("dropout")}; }

}  // namespace mezzo::xsimd_kernels
