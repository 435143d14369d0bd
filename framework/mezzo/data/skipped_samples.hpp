#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace mezzo::detail {

/// Samples that a loader has left out because of errors. Thread-safe.
class SkippedSamples {
 public:
  /// Records a sample with the text of its error.
  void add(const std::string& error);

  std::int64_t count() const { return count_; }

  /// Text of the first error in the first call, then "".
  std::string take_first();

 private:
  std::atomic<std::int64_t> count_{0};
  std::mutex mutex_;
  std::string first_;
};

}  // namespace mezzo::detail
