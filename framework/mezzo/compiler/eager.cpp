#include <mezzo/graph/eager.hpp>

#include <unordered_map>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/compute_scope.hpp>

namespace mezzo {
namespace {

/// Kernels made on this thread, by request. They hold state while they run, so threads don't share them.
using Cache = std::unordered_map<std::string, ChosenKernel>;
constexpr std::size_t cache_limit = 4096;

std::string key_of_request(const KernelRequest& request) {
  std::string key = request.where + "|" + request.op->name + "|" + request.attributes.to_string();
  for (const Spec& spec : request.inputs) key += "|" + to_string(spec);
  return key;
}

Kernel& kernel_for(const KernelRequest& request) {
  thread_local Cache cache;
  if (cache.size() > cache_limit) cache.clear();
  ChosenKernel& entry = cache[key_of_request(request)];
  if (!entry.kernel) entry = choose_kernel(request);
  return *entry.kernel;
}

}  // namespace

std::vector<Tensor> run_eagerly(const Op& op, const Attributes& attributes, const std::vector<Tensor>& inputs,
                                const std::vector<Spec>& outputs, const std::string& where) {
  if (op.view) return {inputs.front().reshape(outputs.front().shape)};
  KernelRequest request{&op, attributes, {}, outputs, where};
  std::vector<const void*> sources;
  for (const Tensor& input : inputs) {
    request.inputs.push_back({input.shape(), input.dtype()});
    sources.push_back(input.raw());
  }
  Kernel& kernel = kernel_for(request);
  std::vector<Tensor> results;
  std::vector<void*> targets;
  for (const Spec& spec : outputs) results.push_back(Tensor::uninitialized(spec.shape, spec.dtype));
  for (Tensor& result : results) targets.push_back(result.mutable_raw());
  Tensor scratch = Tensor::uninitialized({static_cast<std::int64_t>(kernel.scratch_bytes())}, DType::uint8);
  const detail::ComputeScope computing;
  kernel.run({sources.data(), targets.data(), scratch.mutable_raw()});
  return results;
}

}  // namespace mezzo
