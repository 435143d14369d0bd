#include <mezzo/data/batch_reader.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <mezzo/core/fork.hpp>

namespace mezzo::detail {

void BatchReader::run(const BatchPosition& start, std::int64_t count) {
  pause();
  peeked_.reset();
  start_ = start;
  loaded_ = 0;
  end_ = count;
  if (threads_ != nullptr) {
    threads_->run([this](std::int64_t number) { return batching_->load(batching_->after(start_, number)); }, 0, count,
                  static_cast<int>(std::min<std::int64_t>(workers_, count)));
  } else {
    start_threads();
  }
}

void BatchReader::go_on(std::int64_t count) {
  const std::int64_t taken = loaded_ - (peeked_ ? 1 : 0);
  end_ = count > std::numeric_limits<std::int64_t>::max() - taken ? std::numeric_limits<std::int64_t>::max()
                                                                  : taken + count;
  if (threads_ != nullptr) {
    threads_->go_on(end_, static_cast<int>(std::min<std::int64_t>(workers_, end_ - loaded_)));
  } else {
    start_threads();
  }
}

void BatchReader::pause() {
  leave_to_parent();
  if (threads_ != nullptr) threads_->pause();
}

bool BatchReader::spent() const { return !peeked_ && (threads_ == nullptr || threads_->empty()); }

void BatchReader::start_threads() {
  if (workers_ == 0 || loaded_ >= end_) return;
  depth_ = fork_depth();
  threads_ = std::make_unique<BatchWorkers>(static_cast<std::size_t>(workers_) * static_cast<std::size_t>(prefetch_));
  threads_->run([this](std::int64_t number) { return batching_->load(batching_->after(start_, number)); }, loaded_,
                end_, static_cast<int>(std::min<std::int64_t>(workers_, end_ - loaded_)));
}

void BatchReader::leave_to_parent() {
  if (threads_ != nullptr && depth_ != fork_depth()) (void)threads_.release();
}

HostBatch BatchReader::load() {
  if (workers_ == 0) return batching_->load(batching_->after(start_, loaded_++));
  leave_to_parent();
  if (threads_ == nullptr) start_threads();
  HostBatch batch = threads_->next();
  ++loaded_;
  return batch;
}

const HostBatch* BatchReader::peek() {
  if (!peeked_ && loaded_ < end_) peeked_ = load();
  return peeked_ ? &*peeked_ : nullptr;
}

std::optional<HostBatch> BatchReader::next() {
  if (peeked_) return std::exchange(peeked_, std::nullopt);
  if (loaded_ >= end_) return std::nullopt;
  return load();
}

std::unique_ptr<BatchReader> IdleReaders::take(const BatchPosition& start, std::int64_t count) {
  std::unique_ptr<BatchReader> reader;
  bool continues = false;
  if (const auto lock = lock_soon(mutex_)) {
    auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) { return kept->next_position() == start; });
    continues = found != kept_.end();
    if (!continues) found = std::find_if(kept_.begin(), kept_.end(), [](const auto& kept) { return kept->spent(); });
    if (found == kept_.end() && kept_.size() == most_kept) found = kept_.begin();
    if (found != kept_.end()) {
      reader = std::move(*found);
      kept_.erase(found);
    }
  }
  if (reader == nullptr) reader = std::make_unique<BatchReader>(batching_, workers_, prefetch_);
  if (continues) {
    reader->go_on(count);
  } else {
    reader->run(start, count);
  }
  return reader;
}

void IdleReaders::keep(std::unique_ptr<BatchReader> reader) {
  reader->pause();
  if (reader->failed()) return;
  const auto lock = lock_soon(mutex_);
  if (!lock) return;
  if (kept_.size() == most_kept) kept_.erase(kept_.begin());
  kept_.push_back(std::move(reader));
}

}  // namespace mezzo::detail
