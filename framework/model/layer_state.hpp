#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/shared.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/model/variable.hpp>

namespace mezzo {

/// What all copies of a layer share: identity, policy, sub-layers under the names that it calls them by, weights.
struct LayerState : ScopeInfo {
  struct Blank {};
  explicit LayerState(Blank) {}
  explicit LayerState(ScopeInfo info) : ScopeInfo(std::move(info)) {}
  void copy_from(const LayerState& other) { *this = other; }

  std::vector<std::pair<std::string, Shared<LayerState>>> children;
  std::vector<Variable> weights;
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
