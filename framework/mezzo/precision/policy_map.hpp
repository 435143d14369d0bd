#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/precision/policy.hpp>

namespace mezzo {

/// Options of PolicyMap.
struct PolicyMapOptions {
  Policy default_policy{};  ///< policy of layers without an entry; default: of the next level
  /// Entries: path of a layer, or regular expression for paths, and its policy.
  std::vector<std::pair<std::string, Policy>> policies{};
};

/// A policy for each layer by its path, as Keras' DTypePolicyMap:
///
///     const PolicyMap map({.default_policy = "mixed_bfloat16",
///                          .policies = {{"head", "float32"}, {".*/norm", "float32"}}});
///     Trainer({.precision = map}).fit(model, loader);
///
/// A map is accepted in place of a policy. Paths ("backbone/conv1") are relative to the layer whose policy the map is,
/// or to the model for a Trainer and set_dtype_policy(). A layer's policy is the entry with its exact path, else the
/// entry whose regular expression (RE2 syntax) matches the whole path, else the default. A layer with a policy of its
/// own, or in a container with one, keeps that policy: the nearest level takes precedence. A Trainer throws a
/// ValueError for an entry that matches no layer.
class MEZZO_API PolicyMap {
 public:
  /// Throws a ValueError for an entry given twice, a bad regular expression, or a policy that is a map or inherits.
  explicit PolicyMap(const PolicyMapOptions& options);

  /// Policy of a layer; it inherits if no entry matches and there is no default. Throws a ValueError if several
  /// expressions match.
  Policy at(const std::string& path) const;

  const Policy& default_policy() const { return default_policy_; }  ///< for layers whose path no expression matches

  /// Texts of the entries that match none of these paths.
  std::vector<std::string> unmatched(const std::vector<std::string>& paths) const;

  /// Text of all entries and the default; equal for equal maps.
  std::string name() const;

 private:
  struct Entry;  // with its compiled expression
  const std::vector<Entry>& entries() const;

  Policy default_policy_;
  std::shared_ptr<const std::vector<Entry>> entries_;
};

namespace detail {
/// A policy and the path, from the root of the run, of the layer whose policy it is.
struct PolicyLevel {
  Policy policy;
  std::string path;
  bool of_layer = true;  ///< false: policy of the Trainer, of set_dtype_policy() or of an autocast() scope
};

/// Policy of the layer with this path, from the last level whose policy doesn't inherit; float32 if there is none. Op
/// lists override the policies of layers inside them.
MEZZO_API Policy policy_at(const std::vector<PolicyLevel>& levels, const std::string& path);
}  // namespace detail

}  // namespace mezzo
