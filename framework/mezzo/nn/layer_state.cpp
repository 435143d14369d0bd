#include <mezzo/nn/layer_state.hpp>

#include <algorithm>
#include <cctype>

#include <mezzo/core/fail.hpp>

namespace mezzo {

const std::string& LayerState::enter(const std::string& wanted, const Shared<LayerState>& child) {
  for (const auto& entry : children) {
    if (entry.second.get() == child.get()) return entry.first;
  }
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(children.begin(), children.end(), [&](const auto& entry) { return entry.first == candidate; });
  };
  std::string entered = wanted;
  if (wanted.empty()) {
    const std::string base = snake_case(child->kind);
    entered = base;
    for (int i = 1; taken(entered); ++i) entered = fmt::format("{}_{}", base, i);
  } else if (taken(wanted)) {
    fail<NameError>("[" + kind + "]", "names of sub-layers must differ; got \"{}\" twice", wanted);
  }
  children.emplace_back(entered, child);
  return children.back().first;
}

void LayerState::set_trainable(bool flag) {
  trainable = flag;
  for (const auto& child : children) child.second->set_trainable(flag);
}

void LayerState::clear_losses() {
  losses.clear();
  for (const auto& child : children) child.second->clear_losses();
}

std::string snake_case(const std::string& kind) {
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
