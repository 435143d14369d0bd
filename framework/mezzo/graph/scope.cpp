#include <mezzo/graph/scope.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/thread_state.hpp>
#include <mezzo/precision/policy_map.hpp>

namespace mezzo {
namespace {

Frames& frames() { return graph_state().frames; }
Policy& base_policy() { return graph_state().base_policy; }
CastRegions& outermost() { return graph_state().outermost; }
CastRegions& innermost_regions() { return frames().empty() ? outermost() : frames().back().regions; }

std::uint64_t next_region() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

GraphState::Origin& origin() { return graph_state().origin; }

std::string joined(const std::string& path, const Frame& frame) {
  return path + (path.empty() || frame.entry.empty() ? "" : "/") + frame.entry;
}

bool has_map(const CastRegions& regions) {
  return std::any_of(regions.begin(), regions.end(), [](const CastRegion& r) { return r.policy.map() != nullptr; });
}

/// True if a policy that applies here is a map. Only then the path is needed; building it for each op is slow.
bool maps_count(const Policy& global) {
  if (global.map() != nullptr || base_policy().map() != nullptr || has_map(outermost())) return true;
  return std::any_of(frames().begin(), frames().end(),
                     [](const Frame& layer) { return layer.info->policy.map() != nullptr || has_map(layer.regions); });
}

}  // namespace

Scope::Scope(Frame frame) : depth_(frames().size()) {
  constexpr std::size_t most = 256;  // more than any model nests
  if (depth_ >= most) {
    fail<ValueError>(current_label("Layer"), "calls of layers must not be nested deeper than {}; a layer calls itself",
                     most);
  }
  frames().push_back(std::move(frame));
}
Scope::Scope(const Frames& added) : depth_(frames().size()) {
  frames().insert(frames().end(), added.begin(), added.end());
}
Scope::~Scope() { frames().resize(depth_); }

PolicyScope::PolicyScope(const Policy& policy) : outer_(base_policy()) {
  if (!policy.inherits()) base_policy() = policy;
}
PolicyScope::~PolicyScope() { base_policy() = outer_; }

FreshScope::FreshScope() : frames_(std::exchange(frames(), {})), regions_(std::exchange(outermost(), {})) {}
FreshScope::~FreshScope() {
  frames() = std::move(frames_);
  outermost() = std::move(regions_);
}

CastScope::CastScope(const CastRegions& regions) : depth_(innermost_regions().size()) {
  innermost_regions().insert(innermost_regions().end(), regions.begin(), regions.end());
}
CastScope::~CastScope() { innermost_regions().resize(depth_); }

CastScope autocast(const Policy& policy) {
  return CastScope(policy.inherits() ? CastRegions{} : CastRegions{{policy, true, next_region()}});
}

CastScope disable_casts() { return CastScope({{Policy(), false, next_region()}}); }

bool casts_disabled() {
  for (auto frame = frames().rbegin(); frame != frames().rend(); ++frame) {
    if (!frame->regions.empty()) return !frame->regions.back().casts;
  }
  return !outermost().empty() && !outermost().back().casts;
}

std::uint64_t current_region() { return innermost_regions().empty() ? 0 : innermost_regions().back().id; }

OriginScope::OriginScope(const std::string& where, const std::string& path) : outer_{origin().where, origin().path} {
  origin() = {&where, &path};
}
OriginScope::~OriginScope() { origin() = {outer_[0], outer_[1]}; }

const Frames& current_frames() { return frames(); }

const CastRegions& outer_regions() { return outermost(); }

Policy current_policy() {
  const Policy global = dtype_policy();
  std::vector<PolicyLevel> levels{{global, "", false}, {base_policy(), "", false}};
  const bool by_path = maps_count(global);
  std::string path;
  const auto add_regions = [&](const CastRegions& regions) {
    for (const CastRegion& region : regions) levels.push_back({region.policy, path, false});
  };
  add_regions(outermost());
  for (const Frame& layer : frames()) {
    if (by_path) path = joined(path, layer);
    if (!layer.info->policy.inherits()) levels.push_back({layer.info->policy, path});
    add_regions(layer.regions);
  }
  return policy_at(levels, path);
}

std::string current_path() {
  if (origin().path != nullptr) return *origin().path;
  std::string path;
  for (const Frame& frame : frames()) path = joined(path, frame);
  return path;
}

bool current_trainable() {
  for (const Frame& frame : frames()) {
    if (!frame.info->trainable) return false;
  }
  return true;
}

std::optional<bool> current_training() {
  for (auto frame = frames().rbegin(); frame != frames().rend(); ++frame) {
    if (frame->training) return frame->training;
  }
  return {};
}

RematCalls current_remat_calls() {
  RematCalls out;
  for (const Frame& frame : frames()) {
    if (frame.remat) out.push_back(frame.remat);
  }
  return out;
}

std::string current_label(const std::string& otherwise) {
  if (origin().where != nullptr) return *origin().where;
  if (frames().empty()) return "[" + otherwise + "]";
  const Frame& frame = frames().back();
  const std::string& name = frame.info->name.empty() ? frame.entry : frame.info->name;
  return name.empty() ? fmt::format("[{}]", frame.info->kind) : fmt::format("[{} \"{}\"]", frame.info->kind, name);
}

}  // namespace mezzo
