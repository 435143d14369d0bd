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

/// Offsets, multiples of 64, such that pieces that live at the same time don't overlap; and the size of the whole.
/// Greedy, largest first, each at the lowest place that is free (Pisarchyk and Lee, 2020: "greedy by size").
struct MemoryPlan {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
};
MemoryPlan plan_memory(const std::vector<Lifetime>& pieces);

/// One block of memory, in huge pages where there are some, kept until the end: pages are touched once. Shared by the
/// plans of a model, which run one at a time.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Makes it at least that large; what it held is lost if it grows.
  void reserve(std::size_t bytes);

  unsigned char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace mezzo
