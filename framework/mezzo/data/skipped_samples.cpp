#include <mezzo/data/skipped_samples.hpp>

#include <utility>

#include <mezzo/data/batch_pool.hpp>

namespace mezzo::detail {

void SkippedSamples::add(const std::string& error) {
  if (count_++ > 0) return;
  const auto lock = lock_soon(mutex_);
  if (lock) first_ = error;
}

std::string SkippedSamples::take_first() {
  const auto lock = lock_soon(mutex_);
  return lock ? std::exchange(first_, std::string()) : std::string();
}

}  // namespace mezzo::detail
