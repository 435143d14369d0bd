#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <mezzo/data/batch.hpp>

namespace mezzo::detail {

/// Threads that load numbered batches into a ring of slots, until the object is destroyed.
class BatchWorkers {
 public:
  using Load = std::function<HostBatch(std::int64_t number)>;

  /// `room`: number of batches that are loaded ahead, at least 1.
  explicit BatchWorkers(std::size_t room) : slots_(room) {}
  BatchWorkers(const BatchWorkers&) = delete;
  BatchWorkers& operator=(const BatchWorkers&) = delete;
  ~BatchWorkers();

  /// Loads batches [first, end) from now on, on at least `threads` threads. The threads must pause. An Error if the
  /// system can't start a thread.
  void run(Load load, std::int64_t first, std::int64_t end, int threads);

  /// Goes on with the same batches after a pause, up to `end`.
  void go_on(std::int64_t end, int threads);

  /// Returns when no thread loads a batch. Batches that were loaded stay.
  void pause();

  /// True if no batch is loaded that next() has not returned. The threads must pause.
  bool empty() const { return next_to_load_ == next_to_deliver_; }

  /// True if a batch that next() has not returned couldn't be loaded. The threads must pause.
  bool failed() const;

  /// The next batch. It must not be called after the last one, or after it has thrown.
  HostBatch next();

 private:
  /// Result of loading one batch.
  struct Slot {
    std::optional<HostBatch> batch{};
    std::exception_ptr failure{};
  };

  Slot& slot_of(std::int64_t batch) { return slots_[static_cast<std::size_t>(batch) % slots_.size()]; }
  bool has_work() const;
  void start(int threads);
  void work();
  Slot load(std::int64_t batch) const noexcept;

  std::mutex mutex_;               // guards all members below except threads_ and load_
  std::condition_variable ready_;  // a thread has begun, a slot was filled
  std::condition_variable room_;   // a slot was emptied, the threads continue or end
  std::vector<Slot> slots_;
  Load load_;  // changes only while the threads pause
  std::int64_t next_to_load_ = 0;
  std::int64_t next_to_deliver_ = 0;
  std::int64_t end_ = 0;
  int begun_ = 0;    // threads
  int loading_ = 0;  // threads that load a batch
  bool paused_ = true, ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mezzo::detail
