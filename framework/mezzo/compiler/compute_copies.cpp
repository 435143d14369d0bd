#include <mezzo/compiler/compute_copies.hpp>

#include <mezzo/compiler/memory.hpp>
#include <mezzo/graph/op.hpp>

namespace mezzo {

std::size_t ComputeCopies::find_or_add(const std::shared_ptr<detail::VariableState>& variable, DType dtype) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].variable.lock() == variable && entries_[i].dtype == dtype) return i;
  }
  const std::size_t offset = entries_.empty() ? 0 : entries_.back().offset + aligned(entries_.back().bytes);
  entries_.push_back({variable, dtype, bytes_of({variable->value.shape(), dtype}), offset});
  return entries_.size() - 1;
}

void ComputeCopies::forget() {
  for (Entry& entry : entries_) entry.version = stale;
}

void ComputeCopies::forget_others(const std::vector<bool>& used, std::size_t bytes) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool mine = i < used.size() && used[i];
    if (!mine && entries_[i].offset < bytes) entries_[i].version = stale;
  }
}

}  // namespace mezzo
