#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mezzo {

/// A piece of memory that is needed from step `first` to step `last`, both included.
struct Lifetime {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Places of pieces in one block of memory.
struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< multiples of 64
  std::size_t bytes = 0;             ///< size of the block
};

/// Assigns offsets so that pieces with overlapping lifetimes don't overlap in memory. Greedy: the largest piece first,
/// each at the lowest free offset ("greedy by size" of Pisarchyk and Lee, 2020).
MemoryPlan plan_memory(const std::vector<Lifetime>& pieces);

/// One block of memory, in huge pages if the system has them. Kept between runs, so that each page is touched for the
/// first time only once. Shared by the plans of a model, which run one at a time.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Makes the block at least that large. Its contents are lost if it grows. Throws a MemoryError if the system hasn't
  /// that much memory; the block is unchanged then.
  void reserve(std::size_t bytes);

  unsigned char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace mezzo
