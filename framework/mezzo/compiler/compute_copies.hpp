#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <mezzo/graph/variable_state.hpp>

namespace mezzo {

/// Places of the low-precision copies of variables that plans compute with, in the arena of the plans. All plans of an
/// arena share them: an entry keeps its offset. A plan may use the memory of a copy for other arrays after the last
/// reader of the copy, if an update writes the copy again later in the run.
class ComputeCopies {
 public:
  static constexpr std::uint64_t stale = ~std::uint64_t{0};

  struct Entry {
    std::weak_ptr<const detail::VariableState> variable;
    DType dtype = DType::float32;
    std::size_t bytes = 0;
    std::size_t offset = 0;         ///< in the arena; a multiple of 64
    std::uint64_t version = stale;  ///< VariableState::version of the numbers in memory
  };

  /// Index of the copy in that dtype. The first call adds an entry after all others.
  std::size_t find_or_add(const std::shared_ptr<detail::VariableState>& variable, DType dtype);

  Entry& operator[](std::size_t i) { return entries_[i]; }
  const Entry& operator[](std::size_t i) const { return entries_[i]; }
  std::size_t size() const { return entries_.size(); }

  /// Marks all copies as stale, since the memory has lost its contents.
  void forget();

  /// Marks the copies below `bytes` as stale, except those for which `used[index]` is true. Called when another plan
  /// writes to that memory.
  void forget_others(const std::vector<bool>& used, std::size_t bytes);

 private:
  std::vector<Entry> entries_;
};

}  // namespace mezzo
