#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mezzo/precision/policy.hpp>

namespace mezzo {

/// A part of a layer's call that has a policy of its own, by autocast(), or casts nothing, by disable_casts().
struct CastRegion {
  Policy policy;
  bool casts = true;
  std::uint64_t id = 0;  ///< what was computed under another id crosses a border
};
using CastRegions = std::vector<CastRegion>;

/// While one lives, its regions are the innermost of the running layer.
class CastScope {
 public:
  explicit CastScope(const CastRegions& regions);
  ~CastScope();
  CastScope(const CastScope&) = delete;
  CastScope& operator=(const CastScope&) = delete;

 private:
  std::size_t depth_;
};

/// In a layer's call, or around calls of layers: while the result lives, ops compute under this policy, and what comes
/// from outside is cast to it, as at a layer's border; so is what leaves, by whoever computes with it. Layers called
/// within that have a policy of their own keep it. An inheriting policy does nothing.
///
///     const auto precise = autocast("float32");
[[nodiscard]] CastScope autocast(const Policy& policy);

/// While the result lives nothing is cast, in layers called within neither: operands of different dtypes still meet in
/// the widest. An autocast() within it holds again.
[[nodiscard]] CastScope disable_casts();

/// Whether disable_casts() holds here.
bool casts_disabled();

/// The id of the innermost region of the running layer's call; 0: none.
std::uint64_t current_region();

/// The regions outside of all layers.
const CastRegions& outer_regions();

/// While one lives, casts are disabled, but what is computed comes from the region around: gradients, updates.
class LibraryScope {
 public:
  LibraryScope() : scope_({{Policy(), false, current_region()}}) {}

 private:
  CastScope scope_;
};

}  // namespace mezzo
