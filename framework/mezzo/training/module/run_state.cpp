#include <mezzo/training/module/run_state.hpp>

#include <mezzo/core/fork.hpp>

namespace mezzo::detail {

std::mutex& run_state_mutex() {
  static auto* const one = new ForkMutex;
  return *one;
}

}  // namespace mezzo::detail
