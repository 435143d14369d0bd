#include <mezzo/nn/weight_dtypes.hpp>

#include <algorithm>

#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/wide_state.hpp>

namespace mezzo::detail {

bool has_wide_state(const LayerState& state) {
  return std::any_of(state.weights.begin(), state.weights.end(),
                     [](const Variable& weight) { return stays_wide(*weight.state()); });
}

std::uint32_t version_of_dtype() {
  const Frames& frames = current_frames();
  const bool of_layer =
      std::any_of(frames.begin(), frames.end(), [](const Frame& frame) { return !frame.info->policy.inherits(); });
  return dtype_policy_version() - (of_layer ? 1 : 0);
}

}  // namespace mezzo::detail
