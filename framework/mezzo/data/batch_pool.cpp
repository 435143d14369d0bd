#include <mezzo/data/batch_pool.hpp>

#include <algorithm>
#include <thread>
#include <utility>

namespace mezzo::detail {

std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  constexpr int tries = 1000;
  for (int i = 0; i < tries && !lock.try_lock(); ++i) std::this_thread::yield();
  return lock;
}

HostBatch BatchPool::take(std::int64_t samples) {
  const std::unique_lock<std::mutex> lock = lock_soon(mutex_);
  if (!lock) return {};
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const HostBatch& batch) {
    return batch.size == samples && std::none_of(batch.fields.begin(), batch.fields.end(),
                                                 [](const auto& field) { return field.tensor.shared(); });
  });
  if (found == kept_.end()) return {};
  HostBatch batch = std::move(*found);
  kept_.erase(found);
  return batch;
}

void BatchPool::remember(const HostBatch& batch) {
  const std::unique_lock<std::mutex> lock = lock_soon(mutex_);
  if (!lock) return;
  if (kept_.size() == capacity_) kept_.pop_front();
  kept_.push_back(batch);
}

}  // namespace mezzo::detail
