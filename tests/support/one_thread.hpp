#pragma once

#include <mezzo/core/parallel.hpp>

namespace mezzo_tests {

/// While one lives there is one thread: threads that wait for one another are slow by chance where others run too.
struct OneThread {
  OneThread() { mezzo::set_thread_count(1); }
  ~OneThread() { mezzo::set_thread_count(threads); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  const int threads = mezzo::thread_count();
};

}  // namespace mezzo_tests
