#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/graph/cast_scope.hpp>

namespace mezzo {

/// What the graph knows of a layer: the part of its state that decides precision, names and training.
struct ScopeInfo {
  std::string kind;  ///< "Conv2D"
  std::string name;  ///< only an explicit one
  Policy policy;     ///< only an explicit one
  bool trainable = true;
};

/// One running layer: what it is, and what its parent calls it ("conv2d_1"; empty for the root of the run).
struct Frame {
  std::shared_ptr<const ScopeInfo> info;
  std::string entry;
  bool symbolic = false;  ///< called on symbols of a functional graph: what it computes of its variables is one too
  CastRegions regions{};  ///< within its call, outermost first
};
using Frames = std::vector<Frame>;

/// While one lives, ops are inserted on behalf of this frame, inside those that were there.
class Scope {
 public:
  explicit Scope(Frame frame);
  explicit Scope(const Frames& frames);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  std::size_t depth_;
};

/// While one lives, its policy stands where the global one would: the Trainer's level. An inheriting one does nothing.
class PolicyScope {
 public:
  explicit PolicyScope(const Policy& policy);
  ~PolicyScope();
  PolicyScope(const PolicyScope&) = delete;
  PolicyScope& operator=(const PolicyScope&) = delete;

 private:
  Policy outer_;
};

/// While one lives, nodes are inserted on behalf of the layer of an earlier one: its gradients, its casts.
class OriginScope {
 public:
  OriginScope(const std::string& where, const std::string& path);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

 private:
  const std::string* outer_[2];
};

/// While one lives, this thread forgets layers and regions of the code around it: a model's own run inside another's.
class FreshScope {
 public:
  FreshScope();
  ~FreshScope();
  FreshScope(const FreshScope&) = delete;
  FreshScope& operator=(const FreshScope&) = delete;

 private:
  Frames frames_;
  CastRegions regions_;
};

/// The layers that are running on this thread, outermost first.
const Frames& current_frames();

/// The policy that holds here: of the nearest region or running layer that has one, else the Trainer's, else the global
/// one. Op lists come before the policies of layers that they enclose.
Policy current_policy();

/// "backbone/layer1.0/conv1": the entries of the running layers, from the root of the run.
std::string current_path();

/// Whether every running layer is trainable.
bool current_trainable();

/// The innermost running layer as errors name it, `[Conv2D "stem"]`, or `[otherwise]` outside of all layers.
std::string current_label(const std::string& otherwise);

}  // namespace mezzo
