#include <mezzo/training/predictor/worker_pool.hpp>

#include <condition_variable>
#include <mutex>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fork.hpp>

namespace mezzo::detail {
namespace {

/// Wakes threads that wait for a worker, of all pools: they rarely do. Never destroyed, as ForkMutex requires.
struct WaitingRoom {
  ForkMutex mutex;
  std::condition_variable given_back;
};

WaitingRoom& waiting_room() {
  static auto* const one = new WaitingRoom;
  return *one;
}

/// Number of the thread, in the order in which threads took their first worker.
struct ThreadNumber {
  std::size_t value = next();

  static std::size_t next() {
    static std::atomic<std::size_t> count{0};
    return count++;
  }
};

}  // namespace

WorkerPool::WorkerPool(std::size_t workers) : size_(workers), slots_(std::make_unique<Slot[]>(workers)) {
  waiting_room();  // made before threads wait or fork
}

std::size_t WorkerPool::find_free(std::size_t first) {
  const int mine = fork_depth() + 1;
  for (std::size_t i = 0; i < size_; ++i) {
    const std::size_t worker = first + i < size_ ? first + i : first + i - size_;
    int holder = slots_[worker].holder.load();
    if (holder != mine && slots_[worker].holder.compare_exchange_strong(holder, mine)) return worker;
  }
  return size_;
}

std::size_t WorkerPool::take() {
  const std::size_t first = ExecutionContext::current().part<ThreadNumber>().value % size_;
  std::size_t worker = find_free(first);
  if (worker < size_) return worker;
  WaitingRoom& room = waiting_room();
  std::unique_lock<std::mutex> lock(room.mutex);
  ++waiting_;  // before the next look: a worker given back from now on wakes this thread
  room.given_back.wait(lock, [&] { return (worker = find_free(first)) < size_; });
  --waiting_;
  return worker;
}

void WorkerPool::give_back(std::size_t worker) {
  slots_[worker].holder.store(0);
  if (waiting_.load() == 0) return;
  WaitingRoom& room = waiting_room();
  { const std::lock_guard<std::mutex> lock(room.mutex); }
  room.given_back.notify_all();
}

}  // namespace mezzo::detail
