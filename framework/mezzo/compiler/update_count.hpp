#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// Updates of variables in bfloat16 or float16 that are rounded to nearest, estimated from some elements of each
/// variable. Elements with a gradient of 0 and updates at a learning rate of 0 don't count.
struct UpdateCount {
  double made = 0;  ///< elements with an update
  double lost = 0;  ///< elements among them that have not changed
  DType dtype = DType::bfloat16;

  /// True if rounding has lost more than half of the updates.
  bool stalls() const { return made > 0 && lost > made / 2; }
};

/// Elements of a variable before an optimizer's update.
class UpdateSample {
 public:
  /// `in`: addresses of the operands of the node. Empty for other ops, dtypes and ways of storage. Allocates nothing.
  UpdateSample(const detail::Node& update, const std::vector<const void*>& in);

  /// Adds the elements that the update has written.
  void count(const void* updated, UpdateCount& to) const;

 private:
  static constexpr std::size_t most = 64;
  std::array<std::int64_t, most> places_{};
  std::array<std::uint16_t, most> before_{};
  std::size_t size_ = 0;
  std::int64_t elements_ = 0, looked_at_ = 0;  // of the variable
  DType dtype_ = DType::bfloat16;
};

/// Counts the updates of an eager trace.
void count_updates(const Graph& eager, UpdateCount& to);

}  // namespace mezzo
