#include <mezzo/backends/xsimd/split_master.hpp>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

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

Entries split_master_entries() {
  return {entry<make_join_master>("join_master"), entry<make_split_master>("split_master")};
}

}  // namespace mezzo::xsimd_kernels
