#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/training/predictor/snapshot.hpp>
#include <mezzo/training/predictor/worker_pool.hpp>

namespace mezzo::detail {

/// Receiver of the outputs of a call, which are valid inside of the function.
class OutputReceiver {
 public:
  virtual void receive(const std::vector<Spec>& outputs, const void* const* addresses) = 0;

 protected:
  OutputReceiver() = default;
  ~OutputReceiver() = default;
  OutputReceiver(const OutputReceiver&) = default;
  OutputReceiver& operator=(const OutputReceiver&) = default;
};

/// Inputs of a call.
struct CallInputs {
  const Tensor* first = nullptr;
  std::size_t count = 0;

  const Tensor* begin() const { return first; }
  const Tensor* end() const { return first + count; }
};

/// Options of an Engine.
struct EngineOptions {
  int threads = 1;          ///< of the pool in a call
  std::size_t workers = 1;  ///< most calls at a time
  std::size_t further = 0;  ///< most plans of a worker for inputs that are not compiled ahead
};

/// Runs plans of a snapshot on any number of threads. Each of its workers has an arena of its own.
class MEZZO_API Engine {
 public:
  /// Compiles the snapshot's inputs for all workers.
  Engine(std::unique_ptr<Snapshot> snapshot, const EngineOptions& options);

  /// Predicts. Waits while all workers are in use. For inputs that were compiled, it allocates nothing and takes no
  /// lock unless it waits. Throws what kernels throw.
  void run(const CallInputs& inputs, OutputReceiver& receiver);

  const EngineOptions& options() const { return options_; }
  const Snapshot& snapshot() const { return *snapshot_; }

 private:
  /// A plan for inputs of certain shapes and dtypes.
  struct Call {
    std::unique_ptr<Plan> plan;
    std::vector<Spec> outputs;
    std::vector<const void*> addresses;  // of the outputs
    std::vector<double> numbers;         // of the runtime scalars
    std::uint64_t used = 0;
  };
  struct Worker {
    std::shared_ptr<Arena> arena = std::make_shared<Arena>();
    std::vector<Call> calls;     // those compiled ahead first
    std::vector<Tensor> inputs;  // of the running call
    std::uint64_t uses = 0;
  };

  Call compile(Worker& worker, const std::vector<Spec>& inputs);
  Call& call_for(Worker& worker, const CallInputs& inputs);

  std::unique_ptr<Snapshot> snapshot_;
  EngineOptions options_;
  KernelOptions kernels_;  // of the thread that made it
  std::vector<Worker> workers_;
  WorkerPool pool_;
};

}  // namespace mezzo::detail
