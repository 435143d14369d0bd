#pragma once
#include <mezzo/core/parallel.hpp>

namespace mezzo::detail {

/// While one lives there is one thread: threads that wait for one another are slow by chance where others run too.
class OneThread {
 public:
  OneThread() { set_thread_count(1); }
  ~OneThread() { set_thread_count(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int threads_ = thread_count();
};

}  // namespace mezzo::detail
