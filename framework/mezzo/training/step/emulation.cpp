#include <mezzo/training/step/emulation.hpp>

#include <algorithm>

#include <mezzo/compiler/int8_products.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {
namespace {

bool computes_in(const Graph& step, DType dtype) {
  return std::any_of(step.nodes.begin(), step.nodes.end(), [&](const NodePtr& node) {
    return node->op->infer != nullptr &&
           std::any_of(node->outputs.begin(), node->outputs.end(), [&](const Spec& s) { return s.dtype == dtype; });
  });
}

bool has_int8_product(const NodePtr& node) {
  return is(*node, ops::tile_matmul) || is_int8_product(*node->op, node->attributes);
}

/// The request of the kernel that "widen" runs inside.
KernelRequest widened(KernelRequest request) {
  for (auto* const specs : {&request.inputs, &request.outputs}) {
    for (Spec& spec : *specs) {
      if (spec.dtype == DType::bfloat16 || spec.dtype == DType::float16) spec.dtype = DType::float32;
    }
  }
  if (request.attributes.has("dtype")) request.attributes.set("dtype", request.outputs.front().dtype);
  return request;
}

/// True if the node's kernel multiplies int8, or widens operands for one that does.
bool multiplies_int8(const Node& node) {
  const KernelRequest request = request_of(node);
  const std::string chosen = chosen_implementation(request);
  return chosen == "int8" || (chosen == "widen" && chosen_implementation(widened(request)) == "int8");
}

/// True if the step has products of int8, and none of them has a kernel that multiplies int8.
bool emulates_int8(const Graph& step) {
  bool any = false;
  for (const NodePtr& node : step.nodes) {
    if (!has_int8_product(node)) continue;
    if (multiplies_int8(*node)) return false;
    any = true;
  }
  return any;
}

}  // namespace

void warn_without_int8(Notices& notices, const Graph& step, const RunOptions& options) {
  if (!options.int8_inside || options.policy.products() == ProductFormat::same) return;
  const std::string text =
      "[Trainer] precision int8-mixed computes no product in int8: the first and the last layer with a matrix are left "
      "out, and no other layer has such a product; Policy(\"mixed_int8\") leaves none out";
  if (notices.has(text)) return;
  const bool any = std::any_of(step.nodes.begin(), step.nodes.end(), has_int8_product);
  if (!any && notices.first(text)) warn(text);
}

void report_int8_emulation(Notices& notices, const Graph& step) {
  if (turned_off(slow_policy_switch)) return;
  const std::string text =
      "[Trainer] products of int8 are emulated on this CPU: their operands are rounded to int8 and multiplied in "
      "float32\n";
  if (!notices.has(text) && emulates_int8(step) && notices.first(text)) write_output(text);
}

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
