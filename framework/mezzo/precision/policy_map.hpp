#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/precision/policy.hpp>

namespace mezzo {

struct PolicyMapOptions {
  Policy default_policy{};  ///< for layers that nothing matches; not given, the next level decides
  std::vector<std::pair<std::string, Policy>> policies{};  ///< paths of layers or regular expressions, and what holds
};

/// A policy for each layer by its path, as Keras' DTypePolicyMap:
///
///     const PolicyMap map({.default_policy = "mixed_bfloat16", .policies = {{"head", "float32"}, {".*/norm",
///     "float32"}}}); Trainer({.precision = map}).fit(model, loader);
///
/// Wherever a policy is taken, so is a map; paths are counted from the layer that it is given to, or from the model for
/// a Trainer and set_dtype_policy: "backbone/conv1". An entry whose text is the path wins, else the one whose regular
/// expression (ECMAScript) matches the whole path, else the default. A layer with a policy of its own, or in a
/// container that has one, keeps that: the nearest level decides. A Trainer refuses an entry that matches no layer.
class PolicyMap {
 public:
  /// A ValueError for a text that comes twice, a bad regular expression, or a policy that is a map or inherits.
  explicit PolicyMap(const PolicyMapOptions& options);

  /// What holds for a layer; it inherits where no entry matches and there is no default. A ValueError if several
  /// expressions match.
  Policy at(const std::string& path) const;

  const Policy& default_policy() const { return default_policy_; }

  /// The texts of entries that match none of these paths.
  std::vector<std::string> unmatched(const std::vector<std::string>& paths) const;

  /// All of it: equal for maps that say the same.
  std::string name() const;

 private:
  struct Entry;  // with its expression, compiled

  Policy default_policy_;
  std::shared_ptr<const std::vector<Entry>> entries_;
};

/// A policy that was given to the layer with this path, from the root of the run.
struct PolicyLevel {
  Policy policy;
  std::string path;
  bool of_layer = true;  ///< not so: of the Trainer, of set_dtype_policy, or of a scope of autocast()
};

/// What holds for the layer with this path: what the last of the levels says that doesn't inherit; float32 if none
/// does. Op lists come before the policies of layers that they enclose.
Policy policy_at(const std::vector<PolicyLevel>& levels, const std::string& path);

}  // namespace mezzo
