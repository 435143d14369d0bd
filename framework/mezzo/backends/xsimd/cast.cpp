#include <mezzo/backends/xsimd/cast.hpp>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

const PerStorage<CastFunctions::Cast>* casts_from(DType dtype, Isa isa) {
  const CastFunctions& table = pick(isa, sse2::cast, avx2::cast, avx512::cast, avx512_bf16::cast);
  if (is_stored(dtype)) return &table.from_storage[storage_of(dtype)];
  if (dtype == DType::int32) return &table.from_int32;
  return dtype == DType::uint8 || dtype == DType::boolean ? &table.from_bytes : nullptr;
}

std::unique_ptr<Kernel> make_cast(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType from = request.inputs[0].dtype;
  const DType to = request.outputs[0].dtype;
  const auto* casts = casts_from(from, isa);
  if (casts == nullptr || !is_stored(to)) return decline_dtype(reason, casts == nullptr ? from : to);
  const auto run = [cast = (*casts)[storage_of(to)], from_size = size_of(from), to_size = size_of(to),
                    count = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      cast(arguments.in<char>(0) + begin * from_size, arguments.out<char>(0) + begin * to_size, end - begin);
    });
  };
  return make_kernel(run, like_output(request));
}

}  // namespace

Entries cast_entries() { return {entry<make_cast>("cast")}; }

}  // namespace mezzo::xsimd_kernels
