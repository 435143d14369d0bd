#include <mezzo/compiler/eager.hpp>

#include <fmt/format.h>

#include <unordered_map>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/execution_context.hpp>

namespace mezzo {
namespace {

/// Kernels by request, for one thread: a part of the ExecutionContext. Kernels have state while they run, so threads
/// don't share them.
struct EagerKernels {
  std::unordered_map<std::string, ChosenKernel> by_request;
};
constexpr std::size_t cache_limit = 4096;

std::string key_of_request(const KernelRequest& request) {
  const std::optional<bool>& winograd = kernel_options().float32_winograd;
  std::string key = fmt::format("{}|{}|{}|{}", request.where, static_cast<const void*>(request.op),
                                request.attributes.to_string(), winograd ? static_cast<int>(*winograd) : -1);
  for (const Spec& spec : request.inputs) key += fmt::format("|{}", to_string(spec));
  return key;
}

Kernel& kernel_for(const KernelRequest& request) {
  auto& cache = detail::ExecutionContext::current().part<EagerKernels>().by_request;
  if (cache.size() > cache_limit) cache.clear();
  ChosenKernel& entry = cache[key_of_request(request)];
  if (!entry.kernel) entry = choose_kernel(request);
  return *entry.kernel;
}

/// Runs each op immediately, with the kernel that a plan would choose.
class KernelExecutor final : public Executor {
 public:
  std::vector<Tensor> run(const Op& op, const Attributes& attributes, const std::vector<Tensor>& inputs,
                          const std::vector<Spec>& outputs, const std::string& where) override;
};

std::vector<Tensor> KernelExecutor::run(const Op& op, const Attributes& attributes, const std::vector<Tensor>& inputs,
                                        const std::vector<Spec>& outputs, const std::string& where) {
  if (op.view) return {inputs.front().reshape(outputs.front().shape)};
  KernelRequest request{.op = &op, .attributes = attributes, .inputs = {}, .outputs = outputs, .where = where};
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

}  // namespace

Executor& kernel_executor() {
  static KernelExecutor one;
  return one;
}

}  // namespace mezzo
