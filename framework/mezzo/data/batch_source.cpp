#include <mezzo/data/batch_source.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>
#include <mezzo/data/gather.hpp>

namespace mezzo::detail {

HostBatch BatchPool::take(std::int64_t samples) {
  const std::unique_lock<std::mutex> lock = lock_soon();
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
  const std::unique_lock<std::mutex> lock = lock_soon();
  if (!lock) return;
  if (kept_.size() == capacity_) kept_.pop_front();
  kept_.push_back(batch);
}

std::unique_lock<std::mutex> BatchPool::lock_soon() {
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  constexpr int tries = 1000;
  for (int i = 0; i < tries && !lock.try_lock(); ++i) std::this_thread::yield();
  return lock;
}

HostBatch BatchPlan::load(std::int64_t batch) const {
  const auto begin = order_.begin() + batch * batch_size_;
  const auto left = static_cast<std::int64_t>(order_.end() - begin);
  const std::vector<std::int64_t> indices(begin, begin + std::min(batch_size_, left));
  HostBatch out = pool_->take(static_cast<std::int64_t>(indices.size()));
  gather(*source_, indices, epoch_, "[DataLoader]", out);
  pool_->remember(out);
  return function_ ? mapped(std::move(out), batch) : out;
}

HostBatch BatchPlan::mapped(HostBatch batch, std::int64_t index) const {
  std::vector<std::string> names;
  for (const NamedTensor& field : batch.fields) names.push_back(field.name);
  const std::int64_t samples = batch.size;
  HostBatch out;
  try {
    out = function_(std::move(batch), index, epoch_);
  } catch (...) {
    rethrow_with(fmt::format("[DataLoader] batch {}: ", index));
  }
  bool good = out.size == samples && out.fields.size() == names.size();
  for (std::size_t i = 0; good && i < names.size(); ++i) {
    const Shape& shape = out.fields[i].tensor.shape();
    good = out.fields[i].name == names[i] && !shape.empty() && shape[0] == samples;
  }
  if (!good) {
    fail<ValueError>("[DataLoader.map]", "the function must return {} samples of the fields {}", samples,
                     fmt::join(names, ", "));
  }
  return out;
}

namespace {

/// Loads batches on the caller's thread.
class CallerSource : public BatchStream::Source {
 public:
  CallerSource(BatchPlan plan, std::int64_t first, std::int64_t end)
      : plan_(std::move(plan)), next_(first), end_(end) {}

  std::optional<HostBatch> next() override {
    if (next_ == end_) return std::nullopt;
    return plan_.load(next_++);
  }

 private:
  BatchPlan plan_;
  std::int64_t next_;
  std::int64_t end_;
};

/// Threads that load batches [first, end) into a ring of slots.
class Workers {
 public:
  Workers(const BatchPlan& plan, std::int64_t first, std::int64_t end, std::size_t room)
      : plan_(plan), slots_(room), next_to_load_(first), next_to_deliver_(first), end_(end) {}

  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  ~Workers() {
    {
      const std::lock_guard lock(mutex_);
      end_ = next_to_load_;
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// Starts the threads. Not in the constructor: if a thread can't be started, the destructor must stop the others.
  void start(int workers) {
    for (int i = 0; i < workers; ++i) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error& error) {
        fail<Error>("[DataLoader]", "{} workers need a thread each; the system refused one after {} ({})", workers, i,
                    error.what());
      }
    }
    // fork() can't delay the allocations of a thread that begins.
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return begun_ == workers; });
  }

  /// The next batch. It must not be called after the last one.
  HostBatch next() {
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

 private:
  /// Result of loading one batch.
  struct Slot {
    std::optional<HostBatch> batch{};
    std::exception_ptr failure{};
  };

  Slot& slot_of(std::int64_t batch) { return slots_[static_cast<std::size_t>(batch) % slots_.size()]; }

  bool done() const { return next_to_load_ == end_; }
  bool has_room() const { return next_to_load_ - next_to_deliver_ < static_cast<std::int64_t>(slots_.size()); }

  void work() {
    std::unique_lock lock(mutex_);
    ++begun_;
    ready_.notify_one();
    while (true) {
      room_.wait(lock, [&] { return done() || has_room(); });
      if (done()) return;
      const std::int64_t batch = next_to_load_++;
      lock.unlock();
      Slot loaded = load(batch);
      lock.lock();
      slot_of(batch) = std::move(loaded);
      ready_.notify_one();
    }
  }

  Slot load(std::int64_t batch) const noexcept {
    const ForkDelay delay;  // a lock of the data set's must be free in a child
    try {
      return {.batch = plan_.load(batch)};
    } catch (...) {
      return {.failure = std::current_exception()};
    }
  }

  const BatchPlan& plan_;
  std::mutex mutex_;               // guards all members below except threads_
  std::condition_variable ready_;  // a thread has begun, or a slot was filled
  std::condition_variable room_;   // a slot was emptied, or the source ends
  std::vector<Slot> slots_;
  std::int64_t next_to_load_;
  std::int64_t next_to_deliver_;
  std::int64_t end_;
  int begun_ = 0;  // threads
  std::vector<std::thread> threads_;
};

/// Loads batches on threads of its own. After fork(), the child has none of them and starts others.
class WorkerSource : public BatchStream::Source {
 public:
  WorkerSource(BatchPlan plan, std::int64_t first, std::int64_t end, int workers, int prefetch)
      : plan_(std::move(plan)), next_(first), end_(end), workers_(workers), prefetch_(prefetch) {
    start();
  }

  WorkerSource(const WorkerSource&) = delete;
  WorkerSource& operator=(const WorkerSource&) = delete;

  ~WorkerSource() override { leave_to_parent(); }

  std::optional<HostBatch> next() override {
    if (next_ == end_) return std::nullopt;
    if (leave_to_parent()) start();
    HostBatch batch = threads_->next();
    ++next_;
    return batch;
  }

 private:
  void start() {
    const std::int64_t room = std::min(std::int64_t{workers_} * prefetch_, end_ - next_);
    threads_ = std::make_unique<Workers>(plan_, next_, end_, static_cast<std::size_t>(room));
    depth_ = fork_depth();
    threads_->start(static_cast<int>(std::min<std::int64_t>(workers_, room)));
  }

  /// Forgets the threads of a parent process, which can't be joined here. False if they are this process's.
  bool leave_to_parent() {
    if (depth_ == fork_depth()) return false;
    (void)threads_.release();
    return true;
  }

  const BatchPlan plan_;
  std::int64_t next_;
  std::int64_t end_;
  int workers_;
  int prefetch_;
  int depth_ = 0;  // fork_depth() when the threads were started
  std::unique_ptr<Workers> threads_;
};

}  // namespace

std::unique_ptr<BatchStream::Source> make_batch_source(BatchPlan plan, std::int64_t first, std::int64_t end,
                                                       int workers, int prefetch) {
  if (workers == 0 || first == end) return std::make_unique<CallerSource>(std::move(plan), first, end);
  return std::make_unique<WorkerSource>(std::move(plan), first, end, workers, prefetch);
}

}  // namespace mezzo::detail
