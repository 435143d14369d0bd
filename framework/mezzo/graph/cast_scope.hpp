#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/precision/policy.hpp>

namespace mezzo {

namespace detail {
/// Part of a layer's call under an autocast() or disable_casts().
struct CastRegion {
  Policy policy;         ///< policy of the region; unused if `casts` is false
  bool casts = true;     ///< false: operands are not cast to a compute dtype
  std::uint64_t id = 0;  ///< id of the region; values computed in a region of another id cross a border and are cast
};
using CastRegions = std::vector<CastRegion>;

/// Adds regions to the running layer as its innermost ones, for the lifetime of the object.
class MEZZO_API CastScope {
 public:
  explicit CastScope(const CastRegions& regions);
  ~CastScope();
  CastScope(const CastScope&) = delete;
  CastScope& operator=(const CastScope&) = delete;

 private:
  std::size_t depth_;
};
}  // namespace detail

/// Sets the policy of ops for the lifetime of the result, in a layer's call or around calls of layers. Inputs from
/// outside the scope are cast on entry, as at a layer's border. Results keep the scope's dtype until another op casts
/// them. Layers inside the scope keep a policy of their own. An inheriting policy has no effect.
/// A ValueError for a quantized policy.
///
///     const auto precise = autocast("float32");
[[nodiscard]] MEZZO_API detail::CastScope autocast(const Policy& policy);

/// Disables casts to the compute dtype for the lifetime of the result, also in layers called inside the scope. Operands
/// of different dtypes are still promoted to the widest. An inner autocast() enables casts again.
[[nodiscard]] MEZZO_API detail::CastScope disable_casts();

namespace detail {
/// True inside disable_casts().
MEZZO_API bool casts_disabled();

/// Id of the innermost region of the running layer's call; 0 if there is none.
MEZZO_API std::uint64_t current_region();

/// Regions outside all layers, outermost first.
MEZZO_API const CastRegions& outer_regions();

/// Disables casts for its lifetime; results still belong to the enclosing region. For gradients and updates.
class MEZZO_API LibraryScope {
 public:
  LibraryScope() : scope_({{Policy(), false, current_region()}}) {}

 private:
  CastScope scope_;
};
}  // namespace detail

}  // namespace mezzo
