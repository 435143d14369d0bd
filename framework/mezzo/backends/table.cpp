#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/backends/xsimd/implementations.hpp>

namespace mezzo {
namespace {

std::vector<Implementation> concatenate(const std::vector<std::vector<Implementation>>& lists) {
  std::vector<Implementation> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

std::vector<Implementation> kernel_table() {
  return concatenate({
      winograd_implementations(),   // 3 x 3 convolutions with fewer products than oneDNN's kernels
      onednn_implementations(),     // matrix products and convolutions
      xsimd_implementations(),      // ops whose time is that of reading and writing memory
      widen_implementations(),      // operands in bfloat16 or float16 that the implementations above decline
      reference_implementations(),  // all ops, in float32 and float64
  });
}

}  // namespace mezzo
