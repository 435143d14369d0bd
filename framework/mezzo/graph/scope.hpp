#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/remat.hpp>

namespace mezzo {

namespace detail {
/// State of a layer that the graph uses: precision, names and training.
struct ScopeInfo {
  std::string kind;  ///< "Conv2D"
  std::string name;  ///< explicit name; empty if none was given
  Policy policy;     ///< explicit policy; inherits if none was given
  bool trainable = true;
  RematRule remat{};
};

/// One running layer.
struct Frame {
  std::shared_ptr<const ScopeInfo> info;
  std::string entry;      ///< its name in its parent ("conv2d_1"); empty for the root of the run
  bool symbolic = false;  ///< called on symbols of a functional graph; values of its variables are symbols, too
  CastRegions regions{};  ///< regions in its call, outermost first
  std::optional<bool> training{};            ///< mode passed to the call, for the layer and its sub-layers
  std::shared_ptr<const RematCall> remat{};  ///< this call, if the layer has a RematRule or may get one
};
using Frames = std::vector<Frame>;

/// Runs a layer for its lifetime: ops are inserted for this frame, inside the frames that are already active.
class MEZZO_API Scope {
 public:
  explicit Scope(Frame frame);
  explicit Scope(const Frames& frames);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  std::size_t depth_;
};

/// Replaces the global policy for its lifetime (the Trainer's level). An inheriting policy has no effect.
class MEZZO_API PolicyScope {
 public:
  explicit PolicyScope(const Policy& policy);
  ~PolicyScope();
  PolicyScope(const PolicyScope&) = delete;
  PolicyScope& operator=(const PolicyScope&) = delete;

 private:
  Policy outer_;
};

/// Inserts nodes for the layer of an earlier node for its lifetime: gradients and casts of that node.
class MEZZO_API OriginScope {
 public:
  OriginScope(const std::string& where, const std::string& path);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

 private:
  const std::string* outer_[2];
};

/// Hides the running layers and regions of this thread for its lifetime, for the run of a model inside another model.
class MEZZO_API FreshScope {
 public:
  FreshScope();
  ~FreshScope();
  FreshScope(const FreshScope&) = delete;
  FreshScope& operator=(const FreshScope&) = delete;

 private:
  Frames frames_;
  CastRegions regions_;
};

/// Running layers of this thread, outermost first.
MEZZO_API const Frames& current_frames();

/// Policy that applies here: that of the nearest region or running layer that has one, else the Trainer's, else the
/// global one. Op lists override the policies of layers inside them.
MEZZO_API Policy current_policy();

/// Path of the running layer from the root of the run: "backbone/layer1.0/conv1".
MEZZO_API std::string current_path();

/// True if every running layer is trainable.
MEZZO_API bool current_trainable();

/// Mode that the nearest running layer was called with: `layer(x, {.training = false})`. Empty if there is none.
MEZZO_API std::optional<bool> current_training();

/// Calls of running layers that the backward pass may compute again, outermost first.
MEZZO_API RematCalls current_remat_calls();

/// Start of error texts: the innermost running layer, `[Conv2D "stem"]`, or `[otherwise]` outside all layers.
MEZZO_API std::string current_label(const std::string& otherwise);
}  // namespace detail

}  // namespace mezzo
