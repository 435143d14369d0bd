#include <mezzo/data/batch_workers.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>

namespace mezzo::detail {

BatchWorkers::~BatchWorkers() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  room_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BatchWorkers::run(Load load, std::int64_t first, std::int64_t end, int threads) {
  load_ = std::move(load);
  std::fill(slots_.begin(), slots_.end(), Slot());
  next_to_load_ = next_to_deliver_ = first;
  go_on(end, threads);
}

void BatchWorkers::go_on(std::int64_t end, int threads) {
  {
    const std::lock_guard lock(mutex_);
    end_ = end;
    paused_ = false;
  }
  room_.notify_all();
  start(threads);
}

void BatchWorkers::start(int threads) {
  for (auto i = static_cast<int>(threads_.size()); i < threads; ++i) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      fail<Error>("[DataLoader]", "{} workers need a thread each; the system refused one after {} ({})", threads, i,
                  error.what());
    }
  }
  // fork() can't delay the allocations of a thread that begins.
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [&] { return begun_ == static_cast<int>(threads_.size()); });
}

void BatchWorkers::pause() {
  std::unique_lock lock(mutex_);
  paused_ = true;
  ready_.wait(lock, [&] { return loading_ == 0; });
}

bool BatchWorkers::failed() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.failure != nullptr; });
}

HostBatch BatchWorkers::next() {
  std::unique_lock lock(mutex_);
  Slot& slot = slot_of(next_to_deliver_);
  ready_.wait(lock, [&] { return slot.batch.has_value() || slot.failure != nullptr; });
  if (slot.failure != nullptr) std::rethrow_exception(slot.failure);
  HostBatch batch = std::move(*slot.batch);
  slot.batch.reset();
  ++next_to_deliver_;
  lock.unlock();
  room_.notify_one();
  return batch;
}

bool BatchWorkers::has_work() const {
  const bool has_room = next_to_load_ - next_to_deliver_ < static_cast<std::int64_t>(slots_.size());
  return !paused_ && next_to_load_ < end_ && has_room;
}

void BatchWorkers::work() {
  std::unique_lock lock(mutex_);
  ++begun_;
  ready_.notify_one();
  while (true) {
    room_.wait(lock, [&] { return ends_ || has_work(); });
    if (ends_) return;
    const std::int64_t batch = next_to_load_++;
    ++loading_;
    lock.unlock();
    Slot loaded = load(batch);
    lock.lock();
    --loading_;
    slot_of(batch) = std::move(loaded);
    ready_.notify_one();
  }
}

BatchWorkers::Slot BatchWorkers::load(std::int64_t batch) const noexcept {
  const ForkDelay delay;  // locks of the data set must be free in a child
  try {
    return {.batch = load_(batch)};
  } catch (...) {
    return {.failure = std::current_exception()};
  }
}

}  // namespace mezzo::detail
