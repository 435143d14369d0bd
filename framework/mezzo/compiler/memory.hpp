#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <mezzo/compiler/compute_copies.hpp>

namespace mezzo {

/// A buffer that is live from Plan::Step number `first` to number `last`, both included. `last` may be the number of
/// steps, for a buffer that outlives the run. With `first` > `last` it is live from `first` on and, in the next run, up
/// to `last`.
struct Lifetime {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::optional<std::size_t> offset{};  ///< given place, a multiple of 64
};

/// Places of pieces in one block of memory.
struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< in bytes, in the order of the pieces; multiples of 64
  std::size_t bytes = 0;             ///< size of the block; a multiple of 64
};

/// `bytes` rounded up to the alignment of pieces, 64 bytes.
std::size_t aligned(std::size_t bytes);

/// Assigns offsets so that pieces with overlapping lifetimes don't overlap in memory. Pieces with a given place must
/// not overlap. Greedy by size (Pisarchyk and Lee, 2020), with first fit in place of the paper's smallest gap: places
/// the largest piece first, each at the lowest offset where it fits. Pieces of equal size are placed in their order. If
/// it needs less memory, the pieces that are live last are placed first instead.
MemoryPlan plan_memory(const std::vector<Lifetime>& pieces);

/// One block of memory, in huge pages if the system has them. Kept between runs, so that only the first run has page
/// faults. Shared by the plans of a model, which run one at a time.
class Arena {
 public:
  /// Copies of variables in the block, which outlive a run.
  ComputeCopies copies;

  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Grows the block to at least `bytes`. Growth changes the address and loses the contents. Throws a MemoryError if
  /// memory is insufficient; the block is unchanged then.
  void reserve(std::size_t bytes);

  /// Uses memory of the caller, 64-byte aligned, in place of a block of its own.
  void borrow(unsigned char* data, std::size_t bytes);

  unsigned char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void release();

  unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool borrowed_ = false;
};

}  // namespace mezzo
