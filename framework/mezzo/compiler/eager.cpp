#include <mezzo/compiler/eager.hpp>

#include <fmt/format.h>

#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/tuning.hpp>

namespace mezzo {
namespace {

/// The most recently used kernels of one thread: a part of the ExecutionContext. Kernels have state while they run, so
/// threads don't share them.
class EagerKernels {
 public:
  /// The kernel of a request. Returns a shared pointer, since the cache may drop the kernel while it runs: a host
  /// function may call ops.
  std::shared_ptr<Kernel> find(const std::string& key, const KernelRequest& request) {
    const auto found = places_.find(key);
    if (found != places_.end()) {
      kernels_.splice(kernels_.begin(), kernels_, found->second);  // most recently used first
      return kernels_.front().second;
    }
    std::shared_ptr<Kernel> kernel = choose_kernel(request).kernel;
    kernels_.emplace_front(key, kernel);
    places_[key] = kernels_.begin();
    while (kernels_.size() > static_cast<std::size_t>(eager_cache_size())) {
      places_.erase(kernels_.back().first);
      kernels_.pop_back();
    }
    return kernel;
  }

  std::size_t size() const { return kernels_.size(); }

 private:
  using Kernels = std::list<std::pair<std::string, std::shared_ptr<Kernel>>>;
  Kernels kernels_;
  std::unordered_map<std::string, Kernels::iterator> places_;
};

EagerKernels& kernels_of_thread() { return detail::ExecutionContext::current().part<EagerKernels>(); }

std::string key_of_request(const KernelRequest& request) {
  const std::optional<bool>& winograd = kernel_options().float32_winograd;
  // Kernels are made for a number of threads.
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}", thread_count(), request.where, static_cast<const void*>(request.op),
                  request.attributes.to_string(), winograd ? static_cast<int>(*winograd) : -1,
                  static_cast<int>(detail::current_float32_matmul()));
  for (const Spec& spec : request.inputs) key += fmt::format("|{}", to_string(spec));
  return key;
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
  const std::shared_ptr<Kernel> kernel = kernels_of_thread().find(key_of_request(request), request);
  std::vector<Tensor> results;
  std::vector<void*> targets;
  for (const Spec& spec : outputs) results.push_back(Tensor::uninitialized(spec.shape, spec.dtype));
  for (Tensor& result : results) targets.push_back(result.mutable_raw());
  Tensor scratch = Tensor::uninitialized({static_cast<std::int64_t>(kernel->scratch_bytes())}, DType::uint8);
  const detail::ComputeScope computing;
  kernel->run({sources.data(), targets.data(), scratch.mutable_raw()});
  return results;
}

}  // namespace

std::size_t eager_kernels() { return kernels_of_thread().size(); }

Executor& kernel_executor() {
  static KernelExecutor one;
  return one;
}

}  // namespace mezzo
