#include <mezzo/data/batch_pool.hpp>

#include <algorithm>
#include <utility>

namespace mezzo::detail {

HostBatch BatchPool::take(std::int64_t samples) {
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  if (kept_.size() == capacity_) kept_.pop_front();
  kept_.push_back(batch);
}

}  // namespace mezzo::detail
