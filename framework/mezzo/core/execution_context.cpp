#include <mezzo/core/execution_context.hpp>

#include <atomic>

namespace mezzo::detail {

ExecutionContext& ExecutionContext::current() {
  thread_local ExecutionContext context;
  return context;
}

std::size_t ExecutionContext::next_index() {
  static std::atomic<std::size_t> count{0};
  return count++;
}

}  // namespace mezzo::detail
