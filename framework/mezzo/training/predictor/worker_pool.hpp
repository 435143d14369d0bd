#pragma once
#include <atomic>
#include <cstddef>
#include <memory>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Numbers 0 to size() - 1 of workers, each of which one thread at a time may use. Taking a free worker needs no lock;
/// a thread first tries the one that it had last. Works in a child of fork(): workers of threads that it lacks are
/// free.
class MEZZO_API WorkerPool {
 public:
  explicit WorkerPool(std::size_t workers);

  std::size_t size() const { return size_; }

  /// Holds a worker for its lifetime. Waits while all are in use.
  class Lease {
   public:
    explicit Lease(WorkerPool& pool) : pool_(pool), worker_(pool.take()) {}
    ~Lease() { pool_.give_back(worker_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::size_t worker() const { return worker_; }

   private:
    WorkerPool& pool_;
    std::size_t worker_;
  };

 private:
  static constexpr std::size_t cache_line = 64;
  struct alignas(cache_line) Slot {
    std::atomic<int> holder{0};  // 0: free; else 1 + fork_depth() of the thread that uses it
  };

  std::size_t take();
  void give_back(std::size_t worker);
  /// A free worker, tried from `first` on; size() if there is none.
  std::size_t find_free(std::size_t first);

  std::size_t size_;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<int> waiting_{0};
};

}  // namespace mezzo::detail
