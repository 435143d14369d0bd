#include <mezzo/backends/xsimd/implementations.hpp>

#include <mezzo/backends/xsimd/depthwise/depthwise.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/movement.hpp>
#include <mezzo/backends/xsimd/pointwise.hpp>
#include <mezzo/backends/xsimd/recurrence/recurrence.hpp>
#include <mezzo/backends/xsimd/truth.hpp>
#include <mezzo/core/cpu.hpp>
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

std::vector<Implementation> implementations(const char* name, const Entries& entries) {
  std::vector<Implementation> all;
  for (const auto& entry : entries) all.push_back({name, &find_op(entry.op), entry.create});
  return all;
}

}  // namespace

std::vector<Implementation> xsimd_implementations() { return implementations("xsimd", all_entries()); }

std::vector<Implementation> depthwise_implementations() {
  return implementations("depthwise", xsimd_kernels::depthwise_entries());
}

std::vector<Implementation> pointwise_implementations() {
  std::vector<Implementation> all = implementations("pointwise", xsimd_kernels::pointwise_entries());
  for (Implementation& one : all) {
    one.create = [create = one.create](const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
      if (is_half(request.inputs[0].dtype) && has_amx()) return decline(reason, "leaves 16-bit operands to AMX");
      return create(request, reason);
    };
  }
  return all;
}

std::unique_ptr<Kernel> xsimd_kernel(const KernelRequest& request, Isa isa, std::string& reason) {
  bool found = false;
  using namespace xsimd_kernels;
  for (const Entries& family : {depthwise_entries(), pointwise_entries(), all_entries()}) {
    for (const auto& entry : family) {
      if (request.op->name != entry.op) continue;
      found = true;
      reason.clear();
      if (auto kernel = entry.make(request, isa, reason)) return kernel;
    }
  }
  if (found) return nullptr;
  return decline(reason, "xsimd has no kernel of {}", request.op->name);
}

}  // namespace mezzo
