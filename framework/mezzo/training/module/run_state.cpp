#include <mezzo/training/module/run_state.hpp>

#include <mezzo/core/fork.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

std::mutex& run_state_mutex() {
  static auto* const one = new ForkMutex;
  return *one;
}

std::shared_ptr<RunState> run_state_of(const Module& module) {
  const std::lock_guard<std::mutex> lock(run_state_mutex());
  return module.run_state();
}

}  // namespace mezzo::detail
