#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/backends/table.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/graph/op_registry.hpp>

#include "support/tensors.hpp"

// Runs the kernel of one implementation, whatever a plan would choose:
//
//   Tensor a = random_tensor({3, 4}), b = random_tensor({4, 5});
//   KernelRun run = run_kernel("onednn", "matmul", {{"transpose_a", false}, ...}, {a, b});
//   if (!run.ran()) return skip(run.declined);
//   BOOST_TEST(largest_difference(run.outputs[0], run_kernel("reference", ...).outputs[0]) < 1e-6);

namespace mezzo_tests {

// The outputs of a kernel, or the reason why it declined.
struct KernelRun {
  std::vector<mezzo::Tensor> outputs;
  std::string declined;
  std::string detail;
  bool ran() const { return declined.empty(); }
};

// The request that the compiler would make for these operands, with the outputs that the op infers.
inline mezzo::KernelRequest kernel_request(const std::string& op, mezzo::Attributes attributes,
                                           std::vector<mezzo::Spec> inputs) {
  mezzo::KernelRequest request;
  request.op = &mezzo::find_op(op);
  request.attributes = std::move(attributes);
  request.inputs = std::move(inputs);
  request.where = "[" + op + "]";
  request.outputs = request.op->infer({request.inputs, request.attributes, request.where});
  return request;
}

inline mezzo::KernelRequest kernel_request(const std::string& op, mezzo::Attributes attributes,
                                           const std::vector<mezzo::Tensor>& inputs) {
  std::vector<mezzo::Spec> specs;
  for (const mezzo::Tensor& input : inputs) specs.push_back({input.shape(), input.dtype()});
  return kernel_request(op, std::move(attributes), std::move(specs));
}

// The kernel of an implementation for a request. Returns null and sets the reason if it declines or isn't in the table.
inline std::unique_ptr<mezzo::Kernel> create_kernel(const std::string& implementation,
                                                    const mezzo::KernelRequest& request, std::string& reason) {
  reason = fmt::format("no implementation \"{}\" of {}", implementation, request.op->name);
  for (const mezzo::detail::Implementation& entry : mezzo::kernel_table()) {
    if (entry.op != request.op || entry.name != implementation) continue;
    reason.clear();
    auto kernel = entry.create(request, reason);
    if (!kernel && reason.empty()) reason = "declined without a reason";
    if (kernel) reason.clear();
    return kernel;
  }
  return nullptr;
}

// Runs the kernel once, with garbage in scratch memory and outputs. Output `output` has the memory of (a copy of) input
// `overwrite`, unless that is -1.
inline std::vector<mezzo::Tensor> run_kernel(mezzo::Kernel& kernel, const mezzo::KernelRequest& request,
                                             const std::vector<mezzo::Tensor>& inputs, int overwrite = -1,
                                             std::size_t output = 0) {
  std::vector<mezzo::Tensor> outputs;
  for (const mezzo::Spec& spec : request.outputs) outputs.push_back(garbage(spec.shape, spec.dtype));
  mezzo::Tensor scratch = garbage({static_cast<std::int64_t>(kernel.scratch_bytes())}, mezzo::DType::uint8);
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const mezzo::Tensor& input : inputs) in.push_back(input.raw());
  for (mezzo::Tensor& one : outputs) out.push_back(one.mutable_raw());
  if (overwrite >= 0) {
    const mezzo::Tensor& under = inputs[static_cast<std::size_t>(overwrite)];
    if (under.bytes() > 0) std::memcpy(out[output], under.raw(), under.bytes());
    in[static_cast<std::size_t>(overwrite)] = out[output];
  }
  kernel.run({in.data(), out.data(), scratch.mutable_raw()});
  return outputs;
}

// Creates and runs the kernel of an implementation ("reference", "xsimd", "onednn", "widen").
inline KernelRun run_kernel(const std::string& implementation, const std::string& op,
                            const mezzo::Attributes& attributes, const std::vector<mezzo::Tensor>& inputs) {
  const mezzo::KernelRequest request = kernel_request(op, attributes, inputs);
  KernelRun result;
  const auto kernel = create_kernel(implementation, request, result.declined);
  if (kernel) {
    result.detail = kernel->detail();
    result.outputs = run_kernel(*kernel, request, inputs);
  }
  return result;
}

// The outputs of the reference, with which every other kernel is compared.
inline std::vector<mezzo::Tensor> run_reference(const std::string& op, const mezzo::Attributes& attributes,
                                                const std::vector<mezzo::Tensor>& inputs) {
  KernelRun run = run_kernel("reference", op, attributes, inputs);
  if (!run.ran()) mezzo::fail<std::runtime_error>("", "reference declined {}: {}", op, run.declined);
  return std::move(run.outputs);
}

// Runs the kernel with output 0 in the memory of each input that it may overwrite. Returns the number of
// these inputs, or -1 if the outputs are not the same, bit for bit, with one of them.
inline int count_safe_overwrites(const std::string& implementation, const std::string& op,
                                 const mezzo::Attributes& attributes, const std::vector<mezzo::Tensor>& inputs) {
  const mezzo::KernelRequest request = kernel_request(op, attributes, inputs);
  std::string reason;
  const auto kernel = create_kernel(implementation, request, reason);
  if (!kernel) mezzo::fail<std::runtime_error>("", "{} declined {}: {}", implementation, op, reason);
  const std::vector<mezzo::Tensor> apart = run_kernel(*kernel, request, inputs);
  int count = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!kernel->may_overwrite(i, 0) || inputs[i].bytes() != apart[0].bytes()) continue;
    const std::vector<mezzo::Tensor> onto = run_kernel(*kernel, request, inputs, static_cast<int>(i));
    for (std::size_t k = 0; k < apart.size(); ++k) {
      if (!onto[k].equal(apart[k])) return -1;
    }
    ++count;
  }
  return count;
}

// True if all outputs are the same, bit for bit, on one thread and on three.
inline bool same_on_any_threads(const std::string& implementation, const std::string& op,
                                const mezzo::Attributes& attributes, const std::vector<mezzo::Tensor>& inputs) {
  const int threads = mezzo::thread_count();
  mezzo::set_thread_count(1);
  const KernelRun one = run_kernel(implementation, op, attributes, inputs);
  mezzo::set_thread_count(3);
  const KernelRun three = run_kernel(implementation, op, attributes, inputs);
  mezzo::set_thread_count(threads);
  if (!one.ran() || !three.ran())
    mezzo::fail<std::runtime_error>("", "{} declined {}: {}", implementation, op, one.declined);
  return std::equal(one.outputs.begin(), one.outputs.end(), three.outputs.begin(), three.outputs.end(),
                    [](const mezzo::Tensor& a, const mezzo::Tensor& b) { return a.equal(b); });
}

// Attributes with one attribute added or replaced.
inline mezzo::Attributes with_attribute(mezzo::Attributes attributes, const std::string& name,
                                        const mezzo::detail::Attribute& value) {
  attributes.set(name, value);
  return attributes;
}

}  // namespace mezzo_tests
