#include <mezzo/backends/xsimd/implementations.hpp>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/movement.hpp>
#include <mezzo/backends/xsimd/recurrence/recurrence.hpp>
#include <mezzo/backends/xsimd/truth.hpp>
#include <mezzo/graph/op_registry.hpp>

namespace mezzo {
namespace {

using xsimd_kernels::Entries;

const Entries& all_entries() {
  static const Entries entries = [] {
    using namespace xsimd_kernels;
    Entries all;
    for (const Entries& family :
         {attention_entries(),    batch_norm_entries(), chain_entries(),       conversion_entries(),
          crossentropy_entries(), dropout_entries(),    elementwise_entries(), finite_entries(),
          fold_entries(),         layer_norm_entries(), movement_entries(),    pooling_entries(),
          recurrence_entries(),   reduce_entries(),     scan_entries(),        softmax_entries(),
          truth_entries(),        update_entries(),     update_rule_entries(), winograd_entries()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return entries;
}

}  // namespace

std::vector<Implementation> xsimd_implementations() {
  std::vector<Implementation> implementations;
  for (const auto& entry : all_entries()) implementations.push_back({"xsimd", &find_op(entry.op), entry.create});
  return implementations;
}

std::unique_ptr<Kernel> xsimd_kernel(const KernelRequest& request, Isa isa, std::string& reason) {
  for (const auto& entry : all_entries()) {
    if (request.op->name == entry.op) return entry.make(request, isa, reason);
  }
  return decline(reason, "xsimd has no kernel of {}", request.op->name);
}

}  // namespace mezzo
