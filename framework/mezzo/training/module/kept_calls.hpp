#pragma once
#include <map>
#include <optional>

#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// Restores, at its end, the states of layers that a call of a layer changes.
class KeptCalls {
 public:
  explicit KeptCalls(LayerState& state) { keep(state); }
  ~KeptCalls() {
    for (auto& [state, kept] : kept_) {
      state->last_policy = kept.policy;
      state->last_output = kept.output;
    }
  }
  KeptCalls(const KeptCalls&) = delete;
  KeptCalls& operator=(const KeptCalls&) = delete;

 private:
  struct Kept {
    Policy policy;
    std::optional<Shape> output;
  };

  void keep(LayerState& state) {
    if (!kept_.emplace(&state, Kept{state.last_policy, state.last_output}).second) return;
    for (const auto& child : state.children) keep(*child.second);
  }

  std::map<LayerState*, Kept> kept_;
};

}  // namespace mezzo::detail
