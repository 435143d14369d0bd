#pragma once
// What PlanBuilder does to the flat list of kernels once it is there.
#include <cstddef>
#include <map>

#include <mezzo/compiler/memory.hpp>
#include <mezzo/compiler/plan.hpp>

namespace mezzo {

/// Buffers of a plan that lie on the bytes of another and share its lifetime.
class Views {
 public:
  std::size_t root(std::size_t buffer) const;
  bool has(std::size_t buffer) const { return roots_.count(buffer) != 0; }
  /// Lays `buffer`, and what lies on it, on the bytes of `base`.
  void lay(std::size_t buffer, std::size_t base);
  const std::map<std::size_t, std::size_t>& roots() const { return roots_; }

 private:
  std::map<std::size_t, std::size_t> roots_;
};

/// Moves updates of variables to where they can first be made: nothing can fail any more, the gates are known, nobody
/// reads the old values. There gradients are still in the cache, and their memory can serve again.
class UpdateSchedule {
 public:
  /// The plan's steps are `computing` ones that compute, then those that update.
  UpdateSchedule(Plan& plan, std::size_t computing, const Views& views);
  void apply();

 private:
  std::size_t first_place(const Plan::Step& update) const;

  Plan& plan_;
  const Views& views_;
  std::size_t computing_, gates_at_ = 0;
  std::map<std::size_t, std::size_t> written_;  // buffer -> the place after the step that writes it
  std::map<std::pair<Plan::Buffer::Home, std::size_t>, std::size_t> read_;  // of homes outside of the arena
};

/// Lets outputs take the bytes of operands that nobody needs any more, then places all that is in the arena.
class BufferPlacement {
 public:
  BufferPlacement(Plan& plan, Views& views);
  void apply();

 private:
  void overwrite(std::size_t step);
  void place();

  Plan& plan_;
  Views& views_;
  std::vector<Lifetime> lifetimes_;
};

}  // namespace mezzo
