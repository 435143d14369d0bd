#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/backends/reference/implementations.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/backends/widen.hpp>
#include <mezzo/backends/xsimd/implementations.hpp>

namespace mezzo {
namespace {

std::vector<Implementation> concatenate(const std::vector<std::vector<Implementation>>& lists) {
  std::vector<Implementation> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Implementations that decline operands without elements, which they leave to the reference: sizes of 0 break their
/// merging of axes, divisions of work and primitives.
std::vector<Implementation> with_elements(std::vector<Implementation> list) {
  for (Implementation& implementation : list) {
    implementation.create = [create = std::move(implementation.create)](
                                const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
      for (const auto* specs : {&request.inputs, &request.outputs}) {
        for (const Spec& spec : *specs) {
          if (element_count(spec.shape) == 0)
            return decline(reason, "takes operands with elements; got {}", spec.shape);
        }
      }
      return create(request, reason);
    };
  }
  return list;
}

}  // namespace

std::vector<Implementation> kernel_table() {
  return concatenate({
      with_elements(winograd_implementations()),  // 3 x 3 convolutions with fewer products than oneDNN's kernels
      with_elements(onednn_implementations()),    // matrix products and convolutions
      with_elements(xsimd_implementations()),     // ops whose time is that of reading and writing memory
      widen_implementations(),      // operands in bfloat16 or float16 that the implementations above decline
      reference_implementations(),  // all ops, in float32 and float64
  });
}

}  // namespace mezzo
