#pragma once
// Parts of PlanBuilder that work on the complete list of kernels: schedule of updates, placement of buffers.
#include <cstddef>
#include <map>

#include <mezzo/compiler/memory.hpp>
#include <mezzo/compiler/plan.hpp>

namespace mezzo {

/// Buffers that share the bytes, and so the lifetime, of another buffer of the plan.
class Views {
 public:
  std::size_t root(std::size_t buffer) const;
  bool has(std::size_t buffer) const { return roots_.count(buffer) != 0; }

  /// Lays `buffer` and its views on the bytes of `base`.
  void lay(std::size_t buffer, std::size_t base);
  const std::map<std::size_t, std::size_t>& roots() const { return roots_; }

 private:
  std::map<std::size_t, std::size_t> roots_;
};

/// Moves each update of a variable to the earliest possible place: after the gates and all kernels that may throw,
/// after the kernels that compute its operands, and after the last reader of the old value. There the gradient is still
/// in the cache, and its memory can be reused. Among updates of one place, the one whose low-precision copy was read
/// last comes first: a gradient may use the memory of copies that are read before it is computed and written after it
/// is used.
class UpdateSchedule {
 public:
  /// `plan` has `computing` steps that compute, then the steps that update.
  UpdateSchedule(detail::Plan& plan, std::size_t computing, const Views& views);
  void apply();

 private:
  /// Moves each all_finite to the place after the kernel that computes its last operand, which is in the cache there.
  void advance_checks();
  std::size_t first_place(const detail::Plan::Step& update) const;
  /// Number of kernels between the last reader of the copy that an update writes and the updates; 0 without a copy.
  std::size_t rest_of_copy(const detail::Plan::Step& update) const;

  detail::Plan& plan_;
  const Views& views_;
  std::size_t computing_, gates_at_ = 0;
  std::map<std::size_t, std::size_t> written_;  // buffer -> the place after the step that writes it
  std::map<std::pair<detail::Plan::Buffer::Home, std::size_t>, std::size_t>
      read_;  // the same for the last reader; homes outside of the arena only
};

/// Lets outputs overwrite operands that are not read later, then assigns offsets in the arena to all buffers.
class BufferPlacement {
 public:
  BufferPlacement(detail::Plan& plan, Views& views);
  void apply();

 private:
  void overwrite(std::size_t step);
  void overwrite(std::size_t step, std::size_t output);
  void place();
  /// Lifetimes by index in Plan::copies_. A copy that an update writes is live from there to its last reader in the
  /// next run.
  std::vector<Lifetime> lifetimes_of_copies() const;

  detail::Plan& plan_;
  Views& views_;
  std::vector<Lifetime> lifetimes_;
};

}  // namespace mezzo
