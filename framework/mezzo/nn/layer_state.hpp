#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/shared.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo {

/// What a layer's weight files have beside the names and layouts that layers declare by add_weight(). Names are those
/// in the file, relative to this layer: "layer1.0.conv1.weight".
struct WeightFileRules {
  std::vector<std::pair<std::string, std::string>> rename{};  ///< regular expressions and what replaces each match
  std::vector<std::string> plain{};  ///< regular expressions: weights that files hold in their own layout
  std::vector<std::string> skip{};   ///< names of others' buffers that load_weights ignores: "num_batches_tracked"
  std::string optional_prefix{};     ///< loaded files may have it in front of all names; never written
};

/// What all copies of a layer share: identity, policy, sub-layers under the names that it calls them by, weights.
struct LayerState : ScopeInfo {
  struct Blank {};
  explicit LayerState(Blank) {}
  explicit LayerState(ScopeInfo info) : ScopeInfo(std::move(info)) {}
  void copy_from(const LayerState& other) { *this = other; }

  std::vector<std::pair<std::string, Shared<LayerState>>> children;
  std::vector<Variable> weights;
  WeightFileRules weight_files;
  Policy last_policy = Policy("");   ///< of the last build or call
  std::optional<Shape> last_output;  ///< of the last call; the first if there are several
  bool called = false;

  /// The name under which `child` is entered: the one that it has already, or `asked`, or an automatic one ("dense",
  /// "dense_1"). A NameError if another child has that name.
  const std::string& enter(const std::string& asked, const Shared<LayerState>& child);
};

/// "BatchNormalization" -> "batch_normalization", as Keras names layers.
std::string snake_case(const std::string& kind);

}  // namespace mezzo
