#include <mezzo/training/step/emulation.hpp>

#include <algorithm>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/tuning.hpp>

namespace mezzo::detail {
namespace {

bool computes_in(const Graph& step, DType dtype) {
  return std::any_of(step.nodes.begin(), step.nodes.end(), [&](const NodePtr& node) {
    return node->op->infer != nullptr &&
           std::any_of(node->outputs.begin(), node->outputs.end(), [&](const Spec& s) { return s.dtype == dtype; });
  });
}

}  // namespace

void report_emulation(Notices& notices, const Graph& step) {
  if (turned_off(slow_policy_switch)) return;
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const Support support = dtype_support(dtype);
    if (support == Support::native || !computes_in(step, dtype)) continue;
    const std::string text =
        fmt::format("[Trainer] {} is {} on this CPU: its products are computed in float32, between casts\n", dtype,
                    support == Support::absent ? "absent" : "emulated");
    if (notices.first(text)) write_output(text);
  }
}

}  // namespace mezzo::detail
