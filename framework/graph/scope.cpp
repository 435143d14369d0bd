#include <mezzo/graph/scope.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/precision/policy_map.hpp>

namespace mezzo {
namespace {

Frames& frames() {
  thread_local Frames stack;
  return stack;
}

Policy& base_policy() {
  thread_local Policy policy;
  return policy;
}

struct Origin {
  const std::string* where = nullptr;
  const std::string* path = nullptr;
};

Origin& origin() {
  thread_local Origin current;
  return current;
}

std::string joined(const std::string& path, const Frame& frame) {
  return path + (path.empty() || frame.entry.empty() ? "" : "/") + frame.entry;
}

}  // namespace

Scope::Scope(Frame frame) : depth_(frames().size()) { frames().push_back(std::move(frame)); }
Scope::Scope(const Frames& added) : depth_(frames().size()) {
  frames().insert(frames().end(), added.begin(), added.end());
}
Scope::~Scope() { frames().resize(depth_); }

PolicyScope::PolicyScope(const Policy& policy) : outer_(base_policy()) {
  if (!policy.inherits()) base_policy() = policy;
}
PolicyScope::~PolicyScope() { base_policy() = outer_; }

FreshScope::FreshScope() : frames_(std::exchange(frames(), {})) {}
FreshScope::~FreshScope() { frames() = std::move(frames_); }

OriginScope::OriginScope(const std::string& where, const std::string& path) : outer_{origin().where, origin().path} {
  origin() = {&where, &path};
}
OriginScope::~OriginScope() { origin() = {outer_[0], outer_[1]}; }

const Frames& current_frames() { return frames(); }

Policy current_policy() {
  const Frames& stack = frames();
  const auto frame =
      std::find_if(stack.rbegin(), stack.rend(), [](const Frame& layer) { return !layer.info->policy.inherits(); });
  const Policy nearest = frame != stack.rend()      ? frame->info->policy
                         : base_policy().inherits() ? dtype_policy()
                                                    : base_policy();
  if (nearest.map() == nullptr) return nearest;
  std::vector<PolicyLevel> levels{{dtype_policy(), ""}, {base_policy(), ""}};
  std::string path;
  for (const Frame& layer : stack) {
    path = joined(path, layer);
    if (!layer.info->policy.inherits()) levels.push_back({layer.info->policy, path});
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

std::string current_label(const std::string& otherwise) {
  if (origin().where != nullptr) return *origin().where;
  if (frames().empty()) return "[" + otherwise + "]";
  const Frame& frame = frames().back();
  const std::string& name = frame.info->name.empty() ? frame.entry : frame.info->name;
  return "[" + frame.info->kind + (name.empty() ? "" : " \"" + name + "\"") + "]";
}

}  // namespace mezzo
