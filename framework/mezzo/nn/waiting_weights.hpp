#pragma once
#include <optional>

#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/weight_source.hpp>

namespace mezzo::detail {

/// A weight file that was passed to load_weights() before the layers were built.
struct WaitingWeights {
  WeightSource file;
  LoadWeightsOptions options;

  /// Reads the file and assigns the weights of a layer that was built since. A FileError if they don't fit.
  void load(const Layer& layer) const;

  /// The same for a layer that isn't built: calls it on symbols like these inputs first.
  void build_and_load(Layer& layer, const Values& xs, const CallOptions& call) const;
};

/// Keeps the file until take_waiting_weights(), and replaces an earlier one. This and the others are thread-safe.
void keep_waiting_weights(const Shared<LayerState>& layer, WaitingWeights weights);

/// True if a file waits for that layer. Reads one number if no file waits for any layer.
bool weights_wait(const LayerState& layer);

/// Removes and returns the file that waits for a layer.
std::optional<WaitingWeights> take_waiting_weights(const LayerState& layer);

}  // namespace mezzo::detail
