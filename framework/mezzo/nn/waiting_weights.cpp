#include <mezzo/nn/waiting_weights.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {
namespace {

/// Files by the state of the layer. Entries of layers that no longer exist are dropped when the next entry is added.
struct Waiting {
  struct Entry {
    std::weak_ptr<LayerState> layer;  // another layer may get the address
    WaitingWeights weights;
  };
  std::mutex mutex;
  std::map<const LayerState*, Entry> entries;
  std::atomic<std::size_t> count{0};
};

Waiting& waiting() {
  static auto* const all = new Waiting;  // layers may outlive static objects
  return *all;
}

}  // namespace

void keep_waiting_weights(const Shared<LayerState>& layer, WaitingWeights weights) {
  Waiting& all = waiting();
  const std::lock_guard lock(all.mutex);
  for (auto entry = all.entries.begin(); entry != all.entries.end();) {
    entry = entry->second.layer.expired() ? all.entries.erase(entry) : std::next(entry);
  }
  all.entries.insert_or_assign(layer.get(), Waiting::Entry{layer.pointer(), std::move(weights)});
  all.count = all.entries.size();
}

bool weights_wait(const LayerState& layer) {
  Waiting& all = waiting();
  if (all.count == 0) return false;
  const std::lock_guard lock(all.mutex);
  const auto found = all.entries.find(&layer);
  return found != all.entries.end() && !found->second.layer.expired();
}

void WaitingWeights::build_and_load(Layer& layer, const Values& xs, const CallOptions& call) const {
  Values symbols;
  for (const Value& x : xs) {
    auto node = std::make_shared<Node>();
    node->op = &input_op();
    node->outputs = {Spec{.shape = x.shape(), .dtype = x.dtype()}};
    symbols.emplace_back(node, 0);
  }
  {
    const OutsideTrace symbols_only;
    layer(symbols, {.training = call.training});
  }
  load(layer);
}

std::optional<WaitingWeights> take_waiting_weights(const LayerState& layer) {
  Waiting& all = waiting();
  if (all.count == 0) return {};
  const std::lock_guard lock(all.mutex);
  const auto found = all.entries.find(&layer);
  if (found == all.entries.end()) return {};
  std::optional<WaitingWeights> out;
  if (!found->second.layer.expired()) out = std::move(found->second.weights);
  all.entries.erase(found);
  all.count = all.entries.size();
  return out;
}

}  // namespace mezzo::detail
