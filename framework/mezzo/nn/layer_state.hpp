#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/nn/regularizer.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo {

/// Rules for a layer's weight files, beyond the names and layouts that add_weight() declares. Names are those in the
/// file, relative to this layer: "layer1.0.conv1.weight". Regular expressions are ECMAScript's.
struct WeightFileRules {
  /// Pairs of a regular expression and the replacement of each match in a name, applied in order.
  std::vector<std::pair<std::string, std::string>> rename{};
  std::vector<std::string> plain{};  ///< regular expressions of weights whose axes files do not permute
  std::vector<std::string> skip{};   ///< names of tensors that load_weights() ignores: "num_batches_tracked"
  std::string optional_prefix{};     ///< prefix that all names of a loaded file may have; never written
};

/// State that all copies of a layer share: kind, name, policy, sub-layers, weights.
struct MEZZO_API LayerState : ScopeInfo {
  struct Blank {};
  explicit LayerState(Blank) {}
  explicit LayerState(ScopeInfo info) : ScopeInfo(std::move(info)) {}
  void copy_from(const LayerState& other) { *this = other; }

  std::vector<std::pair<std::string, Shared<LayerState>>> children;  ///< sub-layers with their names in this layer
  std::vector<Variable> weights;                                     ///< own weights, without those of sub-layers
  WeightFileRules weight_files;
  Policy last_policy = Policy("");        ///< policy of the last build or call
  std::optional<Shape> last_output;       ///< shape of the (first) output of the last call
  bool called = false;                    ///< true after the first call
  Any<Regularizer> activity_regularizer;  ///< penalty of the outputs; empty: none
  Values losses;                          ///< losses added by the last call outside of a step

  /// Sets the flag of this layer and all below.
  void set_trainable(bool flag);

  /// Drops the losses of this layer and all below.
  void clear_losses();

  /// Adds `child` to the sub-layers unless it is one, and returns its name in this layer: `wanted`, or an automatic one
  /// ("dense", "dense_1") if that is empty. A NameError if another child has the name.
  const std::string& enter(const std::string& wanted, const Shared<LayerState>& child);
};

/// Keras' automatic name of a class: "BatchNormalization" -> "batch_normalization".
MEZZO_API std::string snake_case(const std::string& kind);

}  // namespace mezzo
