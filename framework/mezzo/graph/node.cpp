#include <mezzo/graph/node.hpp>

#include <array>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/runtime_scalar.hpp>

namespace mezzo {

std::string to_string(const Spec& spec) { return fmt::format("{} {}", spec.dtype, spec.shape); }

std::string to_string(const detail::RuntimeKey& key) {
  constexpr std::array<const char*, 9> names{"step",         "epoch",         "batch", "seed",      "first_sample",
                                             "sample_share", "learning_rate", "count", "loss_scale"};
  const char* const name = names[static_cast<std::size_t>(key.scalar)];
  return key.scalar < detail::RuntimeScalar::learning_rate ? name
                                                           : fmt::format("{} of optimizer {}", name, key.optimizer);
}

std::size_t bytes_of(const Spec& spec) {
  return static_cast<std::size_t>(element_count(spec.shape)) * dtype_size(spec.dtype);
}

Values detail::outputs_of(const detail::NodePtr& node) {
  Values out;
  for (std::size_t i = 0; i < node->outputs.size(); ++i) out.emplace_back(node, static_cast<int>(i));
  return out;
}

detail::Node::~Node() {
  std::vector<Value> pending = std::move(inputs);
  while (!pending.empty()) {
    const Value value = std::move(pending.back());
    pending.pop_back();
    if (const Value mask = value.mask(); mask.defined()) pending.push_back(mask);
    if (value.node() && value.node().use_count() == 1) {
      auto& deeper = value.node()->inputs;
      pending.insert(pending.end(), std::make_move_iterator(deeper.begin()), std::make_move_iterator(deeper.end()));
      deeper.clear();
    }
  }
}

}  // namespace mezzo
