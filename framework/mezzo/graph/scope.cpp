#include <mezzo/graph/scope.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/thread_state.hpp>
#include <mezzo/precision/policy_map.hpp>

namespace mezzo {
namespace {

detail::Frames& frames() { return graph_state().frames; }
Policy& base_policy() { return graph_state().base_policy; }
detail::CastRegions& outermost() { return graph_state().outermost; }
detail::CastRegions& innermost_regions() { return frames().empty() ? outermost() : frames().back().regions; }

std::uint64_t next_region() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

GraphState::Origin& origin() { return graph_state().origin; }

std::string joined(const std::string& path, const detail::Frame& frame) {
  return path + (path.empty() || frame.entry.empty() ? "" : "/") + frame.entry;
}

bool has_map(const detail::CastRegions& regions) {
  return std::any_of(regions.begin(), regions.end(),
                     [](const detail::CastRegion& r) { return r.policy.map() != nullptr; });
}

/// True if a policy that applies here is a map. The path is needed only then, and building it for each op is slow.
bool maps_count(const Policy& global) {
  if (global.map() != nullptr || base_policy().map() != nullptr || has_map(outermost())) return true;
  return std::any_of(frames().begin(), frames().end(), [](const detail::Frame& layer) {
    return layer.info->policy.map() != nullptr || has_map(layer.regions);
  });
}

}  // namespace

detail::Scope::Scope(detail::Frame frame) : depth_(frames().size()) {
  constexpr std::size_t most = 256;  // above the nesting of any model
  if (depth_ >= most) {
    fail<ValueError>(detail::current_label("Layer"),
                     "calls of layers must not be nested deeper than {}; a layer calls itself", most);
  }
  frames().push_back(std::move(frame));
}
detail::Scope::Scope(const detail::Frames& added) : depth_(frames().size()) {
  frames().insert(frames().end(), added.begin(), added.end());
}
detail::Scope::~Scope() { frames().resize(depth_); }

detail::PolicyScope::PolicyScope(const Policy& policy) : outer_(base_policy()) {
  if (!policy.inherits()) base_policy() = policy;
}
detail::PolicyScope::~PolicyScope() { base_policy() = outer_; }

detail::FreshScope::FreshScope() : frames_(std::exchange(frames(), {})), regions_(std::exchange(outermost(), {})) {}
detail::FreshScope::~FreshScope() {
  frames() = std::move(frames_);
  outermost() = std::move(regions_);
}

detail::CastScope::CastScope(const detail::CastRegions& regions) : depth_(innermost_regions().size()) {
  innermost_regions().insert(innermost_regions().end(), regions.begin(), regions.end());
}
detail::CastScope::~CastScope() { innermost_regions().resize(depth_); }

detail::CastScope autocast(const Policy& policy) {
  if (policy.quantization_mode() != QuantizationMode::none || policy.fake_quantization() != QuantizationMode::none) {
    fail<ValueError>("[autocast]",
                     "the policy must not be quantized, since that is a form of a layer's weights; got {}",
                     policy.name());
  }
  return detail::CastScope(policy.inherits() ? detail::CastRegions{}
                                             : detail::CastRegions{{policy, true, next_region()}});
}

detail::CastScope disable_casts() { return detail::CastScope({{Policy(), false, next_region()}}); }

bool detail::casts_disabled() {
  for (auto frame = frames().rbegin(); frame != frames().rend(); ++frame) {
    if (!frame->regions.empty()) return !frame->regions.back().casts;
  }
  return !outermost().empty() && !outermost().back().casts;
}

std::uint64_t detail::current_region() { return innermost_regions().empty() ? 0 : innermost_regions().back().id; }

detail::OriginScope::OriginScope(const std::string& where, const std::string& path)
    : outer_{origin().where, origin().path} {
  origin() = {&where, &path};
}
detail::OriginScope::~OriginScope() { origin() = {outer_[0], outer_[1]}; }

const detail::Frames& detail::current_frames() { return frames(); }

const detail::CastRegions& detail::outer_regions() { return outermost(); }

Policy detail::current_policy() {
  const Policy global = dtype_policy();
  std::vector<detail::PolicyLevel> levels{{global, "", false}, {base_policy(), "", false}};
  const bool by_path = maps_count(global);
  std::string path;
  const auto add_regions = [&](const detail::CastRegions& regions) {
    for (const detail::CastRegion& region : regions) levels.push_back({region.policy, path, false});
  };
  add_regions(outermost());
  for (const detail::Frame& layer : frames()) {
    if (by_path) path = joined(path, layer);
    if (!layer.info->policy.inherits()) levels.push_back({layer.info->policy, path});
    add_regions(layer.regions);
  }
  return detail::policy_at(levels, path);
}

std::string detail::current_path() {
  if (origin().path != nullptr) return *origin().path;
  std::string path;
  for (const detail::Frame& frame : frames()) path = joined(path, frame);
  return path;
}

bool detail::current_trainable() {
  for (const detail::Frame& frame : frames()) {
    if (!frame.info->trainable) return false;
  }
  return true;
}

std::optional<bool> detail::current_training() {
  for (auto frame = frames().rbegin(); frame != frames().rend(); ++frame) {
    if (frame->training) return frame->training;
  }
  return {};
}

detail::RematCalls detail::current_remat_calls() {
  detail::RematCalls out;
  for (const detail::Frame& frame : frames()) {
    if (frame.remat) out.push_back(frame.remat);
  }
  return out;
}

std::string detail::current_label(const std::string& otherwise) {
  if (origin().where != nullptr) return *origin().where;
  if (frames().empty()) return "[" + otherwise + "]";
  const detail::Frame& frame = frames().back();
  const std::string& name = frame.info->name.empty() ? frame.entry : frame.info->name;
  return name.empty() ? fmt::format("[{}]", frame.info->kind) : fmt::format("[{} \"{}\"]", frame.info->kind, name);
}

}  // namespace mezzo
