#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/int8/few_codes.hpp>
#include <mezzo/backends/xsimd/int8/int8_entries.hpp>
#include <mezzo/graph/codes.hpp>
#include <mezzo/ops/quantized.hpp>

namespace mezzo::xsimd_kernels {
namespace {

std::unique_ptr<Kernel> make_dequantize(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.outputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Attributes& attributes = request.attributes;
  const auto bits = attributes.get<std::int64_t>("bits"), columns = attributes.get<std::int64_t>("columns");
  Shape shape = request.inputs[0].shape;
  shape.back() = columns;
  const detail::ScalePositions at(shape, attributes.get<Shape>("axes"), attributes.get<std::int64_t>("block_size"));
  const std::int64_t run = at.run();
  if (bits == 4 && run > 1 && run < columns && run % 2 != 0) {
    return decline(reason, "takes even runs of codes of 4 bits with one scale; got {}", run);
  }
  const DequantizedRow row{.columns = columns, .bits = bits, .nf4 = detail::is_nf4(attributes), .run = run};
  const std::int64_t rows = columns == 0 ? 0 : element_count(shape) / columns;
  const std::int64_t bytes = detail::bytes_of_codes(columns, bits), out_bytes = columns * size_of(dtype);
  const bool has_zero = request.inputs.size() > 2;
  const auto function = kernels(isa).few_codes.dequantize[dtype];
  return make_kernel([=](const KernelArguments& arguments) {
    parallel_for(rows, grain_of(columns), [&](std::int64_t begin, std::int64_t end) {
      DequantizedRow p = row;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = at.of_row(i);
        p.codes = arguments.in<char>(0) + i * bytes;
        p.scales = arguments.in<float>(1) + first;
        p.zeros = has_zero ? arguments.in<std::int8_t>(2) + first : nullptr;
        p.out = arguments.out<char>(0) + i * out_bytes;
        function(p);
      }
    });
  });
}

}  // namespace

Entries dequantize_entries() { return {entry<make_dequantize>("dequantize")}; }

}  // namespace mezzo::xsimd_kernels
