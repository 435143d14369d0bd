#include <mezzo/nn/layer_state.hpp>

#include <algorithm>
#include <cctype>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/layer_names.hpp>

namespace mezzo {
namespace {

/// True if `inner` is that layer or one below.
bool contains(const detail::LayerState& outer, const detail::LayerState& inner) {
  return &outer == &inner || std::any_of(outer.children.begin(), outer.children.end(),
                                         [&](const auto& child) { return contains(*child.second, inner); });
}

bool has_weights(const detail::LayerState& layer) {
  return !layer.weights.empty() || std::any_of(layer.children.begin(), layer.children.end(),
                                               [](const auto& child) { return has_weights(*child.second); });
}

/// Throws a ValueError if the parent has called a layer of the child's class that no longer exists: then call() makes
/// the layer, a new one at each trace.
void refuse_made_in_call(const detail::LayerState& parent, const detail::LayerState& child) {
  for (const auto& [name, layer] : parent.children) {
    const bool dropped = layer.pointer().use_count() == 1;
    if (!dropped || layer->kind != child.kind || !has_weights(*layer)) continue;
    fail<ValueError>(
        "[" + parent.kind + "]",
        "a layer with weights must be held as long as its parent: as a member, by `sub(\"name\", ...)`, made "
        "before the call; got a new {} in the call in place of \"{}\", which is gone with its weights",
        child.kind, name);
  }
}

}  // namespace

const std::string& detail::LayerState::enter(const std::string& wanted,
                                             const detail::Shared<detail::LayerState>& child) {
  for (const auto& entry : children) {
    if (entry.second.get() == child.get()) return entry.first;
  }
  if (contains(*child, *this)) {
    fail<ValueError>("[" + kind + "]", "a layer must not contain itself; got {}",
                     child.get() == this ? "itself as a sub-layer" : fmt::format("a {} that contains it", child->kind));
  }
  refuse_made_in_call(*this, *child);
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(children.begin(), children.end(), [&](const auto& entry) { return entry.first == candidate; });
  };
  std::string entered = wanted;
  if (wanted.empty()) {
    const std::string base = detail::snake_case(child->kind);
    entered = base;
    for (int i = 1; taken(entered); ++i) entered = fmt::format("{}_{}", base, i);
  } else if (taken(wanted)) {
    fail<NameError>("[" + kind + "]", "names of sub-layers must differ; got \"{}\" twice", wanted);
  }
  detail::checked_layer_name("[" + kind + "] sub-layer", entered);
  children.emplace_back(entered, child);
  return children.back().first;
}

void detail::LayerState::set_trainable(bool flag) {
  trainable = flag;
  for (const auto& child : children) child.second->set_trainable(flag);
}

void detail::LayerState::clear_losses() {
  losses.clear();
  for (const auto& child : children) child.second->clear_losses();
}

std::string detail::snake_case(const std::string& kind) {
  const auto is_lower = [&](std::size_t i) {
    return i < kind.size() && std::islower(static_cast<unsigned char>(kind[i])) != 0;
  };
  std::string out;
  for (std::size_t i = 0; i < kind.size(); ++i) {
    const auto c = static_cast<unsigned char>(kind[i]);
    const bool starts_word = i > 0 && (is_lower(i - 1) || is_lower(i + 1));  // "RNNCells" -> "rnn_cells"
    if (std::isupper(c) != 0 && starts_word) out += '_';
    out += static_cast<char>(std::tolower(c));
  }
  return out;
}

}  // namespace mezzo
