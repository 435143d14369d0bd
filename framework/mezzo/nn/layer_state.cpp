#include <mezzo/nn/layer_state.hpp>

#include <algorithm>
#include <cctype>

namespace mezzo {

const std::string& LayerState::enter(const std::string& asked, const Shared<LayerState>& child) {
  for (const auto& entry : children) {
    if (entry.second.get() == child.get()) return entry.first;
  }
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(children.begin(), children.end(), [&](const auto& entry) { return entry.first == candidate; });
  };
  std::string entered = asked;
  if (asked.empty()) {
    const std::string base = snake_case(child->kind);
    entered = base;
    for (int i = 1; taken(entered); ++i) entered = base + "_" + std::to_string(i);
  } else if (taken(asked)) {
    throw NameError("[" + kind + "] two sub-layers named \"" + asked + "\"");
  }
  children.emplace_back(entered, child);
  return children.back().first;
}

std::string snake_case(const std::string& kind) {
  std::string out;
  for (std::size_t i = 0; i < kind.size(); ++i) {
    const auto c = static_cast<unsigned char>(kind[i]);
    if (std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(kind[i - 1])) != 0) out += '_';
    out += static_cast<char>(std::tolower(c));
  }
  return out;
}

}  // namespace mezzo
