#include <mezzo/training/predictor/engine.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/scoped_value.hpp>

namespace mezzo::detail {
namespace {

/// Sets the number of threads of this thread's pool for its lifetime.
class PoolSize {
 public:
  explicit PoolSize(int threads) : before_(thread_count()), raised_(threads > before_) {
    if (raised_) set_thread_count(threads);
    if (threads < before_) limit_.emplace(threads);  // without the system calls of set_thread_count()
  }
  ~PoolSize() {
    if (raised_) set_thread_count(before_);
  }
  PoolSize(const PoolSize&) = delete;
  PoolSize& operator=(const PoolSize&) = delete;

 private:
  int before_;
  bool raised_;
  std::optional<ThreadLimit> limit_;
};

/// The inputs of a call in a worker's list, which doesn't keep their bytes afterwards, but memory for their shapes.
class HeldInputs {
 public:
  HeldInputs(std::vector<Tensor>& list, const CallInputs& inputs) : list_(list) {
    list_.resize(inputs.count);
    std::copy(inputs.begin(), inputs.end(), list_.begin());
  }
  ~HeldInputs() {
    static const Tensor none;
    std::fill(list_.begin(), list_.end(), none);
  }
  HeldInputs(const HeldInputs&) = delete;
  HeldInputs& operator=(const HeldInputs&) = delete;

 private:
  std::vector<Tensor>& list_;
};

bool fits(const std::vector<Spec>& specs, const CallInputs& inputs) {
  return std::equal(specs.begin(), specs.end(), inputs.begin(), inputs.end(), [](const Spec& spec, const Tensor& x) {
    return spec.dtype == x.dtype() && spec.shape == x.shape();
  });
}

}  // namespace

Engine::Engine(std::unique_ptr<Snapshot> snapshot, const EngineOptions& options)
    : snapshot_(std::move(snapshot)),
      options_(options),
      kernels_(kernel_options()),
      workers_(options.workers),
      pool_(options.workers) {
  kernels_.float32_matmul = current_float32_matmul();  // later plans of this engine have it too
  const PoolSize threads(options_.threads);
  for (Worker& worker : workers_) {
    for (const std::vector<Spec>& inputs : snapshot_->ahead()) worker.calls.push_back(compile(worker, inputs));
  }
}

Engine::Call Engine::compile(Worker& worker, const std::vector<Spec>& inputs) {
  const ScopedValue<KernelOptions> kernels(kernel_options(), kernels_);
  const std::shared_ptr<const Graph> graph = snapshot_->graph_for(inputs);
  Call call;
  call.plan = std::make_unique<Plan>(*graph, worker.arena);
  for (const Graph::Output& output : graph->outputs) {
    call.outputs.push_back({output.value.shape(), output.value.dtype()});
  }
  call.addresses.resize(call.outputs.size());
  call.numbers.resize(call.plan->runtime_keys().size());
  worker.arena->reserve(call.plan->arena_bytes());
  return call;
}

Engine::Call& Engine::call_for(Worker& worker, const CallInputs& inputs) {
  for (Call& call : worker.calls) {
    if (fits(call.plan->inputs(), inputs)) return call;
  }
  std::vector<Spec> specs;
  for (const Tensor& input : inputs) specs.push_back({input.shape(), input.dtype()});
  Call call = compile(worker, specs);
  const std::size_t ahead = snapshot_->ahead().size();
  if (worker.calls.size() - ahead >= options_.further) {
    worker.calls.erase(std::min_element(worker.calls.begin() + static_cast<std::ptrdiff_t>(ahead), worker.calls.end(),
                                        [](const Call& a, const Call& b) { return a.used < b.used; }));
  }
  worker.calls.push_back(std::move(call));
  return worker.calls.back();
}

void Engine::run(const CallInputs& inputs, OutputReceiver& receiver) {
  const WorkerPool::Lease lease(pool_);
  Worker& worker = workers_[lease.worker()];
  const PoolSize threads(options_.threads);
  Call& call = call_for(worker, inputs);
  call.used = ++worker.uses;
  const HeldInputs held(worker.inputs, inputs);
  const std::vector<RuntimeKey>& keys = call.plan->runtime_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) call.numbers[i] = snapshot_->runtime_value(keys[i]);
  call.plan->run(worker.inputs, call.numbers);
  for (std::size_t i = 0; i < call.addresses.size(); ++i) call.addresses[i] = call.plan->output_address(i);
  receiver.receive(call.outputs, call.addresses.data());
}

}  // namespace mezzo::detail
