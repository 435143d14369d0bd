#include <mezzo/backends/xsimd/conversions.hpp>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// The casts from a dtype, or null.
const PerStorage<CastFunctions::Cast>* casts_from(DType dtype, Isa isa) {
  const CastFunctions& table = kernels(isa).cast;
  if (is_stored(dtype)) return &table.from_storage[dtype];
  if (dtype == DType::int32) return &table.from_int32;
  return dtype == DType::uint8 || dtype == DType::boolean ? &table.from_bytes : nullptr;
}

std::unique_ptr<Kernel> make_cast(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType from = request.inputs[0].dtype;
  const DType to = request.outputs[0].dtype;
  const auto* casts = casts_from(from, isa);
  if (casts == nullptr) {
    return decline(reason, "casts from float32, bfloat16, float16, int32, uint8 and bool; got {}", from);
  }
  if (!is_stored(to)) return decline(reason, "casts to float32, bfloat16 and float16; got {}", to);
  const auto run = [cast = (*casts)[to], from_size = size_of(from), to_size = size_of(to),
                    count = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      cast(arguments.in<char>(0) + begin * from_size, arguments.out<char>(0) + begin * to_size, end - begin);
    });
  };
  return make_kernel(run, like_output(request));
}

std::unique_ptr<Kernel> make_join_master(const KernelRequest& request, Isa isa, std::string&) {
  const auto run = [join = kernels(isa).split_master.join,
                    count = element_count(request.inputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      join(arguments.inputs[0], arguments.inputs[1], arguments.outputs[0], begin, end);
    });
  };
  return make_kernel(run);
}

std::unique_ptr<Kernel> make_split_master(const KernelRequest& request, Isa isa, std::string&) {
  const auto run = [split = kernels(isa).split_master.split,
                    count = element_count(request.inputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      split(arguments.inputs[0], arguments.outputs[0], arguments.outputs[1], begin, end);
    });
  };
  return make_kernel(run);
}

}  // namespace

Entries conversion_entries() {
  return {entry<make_cast>("cast"), entry<make_join_master>("join_master"), entry<make_split_master>("split_master")};
}

}  // namespace mezzo::xsimd_kernels
