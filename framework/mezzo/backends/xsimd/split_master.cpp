#include <mezzo/backends/xsimd/split_master.hpp>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

const SplitMasterFunctions& functions(Isa isa) {
  return pick(isa, sse2::split_master, avx2::split_master, avx512::split_master, avx512_bf16::split_master);
}

std::unique_ptr<Kernel> make_join(const KernelRequest& request, Isa isa, std::string&) {
  const auto run = [join = functions(isa).join,
                    count = element_count(request.inputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      join(arguments.inputs[0], arguments.inputs[1], arguments.outputs[0], begin, end);
    });
  };
  return make_kernel(run);
}

std::unique_ptr<Kernel> make_split(const KernelRequest& request, Isa isa, std::string&) {
  const auto run = [split = functions(isa).split,
                    count = element_count(request.inputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      split(arguments.inputs[0], arguments.outputs[0], arguments.outputs[1], begin, end);
    });
  };
  return make_kernel(run);
}

}  // namespace

Entries split_master_entries() { return {entry<make_join>("join_master"), entry<make_split>("split_master")}; }

}  // namespace mezzo::xsimd_kernels
