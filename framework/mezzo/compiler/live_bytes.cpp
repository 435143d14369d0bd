#include <mezzo/compiler/live_bytes.hpp>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <mezzo/compiler/rewrite.hpp>

namespace mezzo {
namespace {

bool is_in_arena(const detail::Node& node) {
  return node.op->infer != nullptr && !node.op->view && node.op->in_place.empty();
}

/// The last places of readers, for each output of each node.
class LastReaders {
 public:
  explicit LastReaders(const Graph& graph) {
    for (std::size_t place = 0; place < graph.nodes.size(); ++place) {
      for (const Value& input : graph.nodes[place]->inputs) read(input, place);
    }
    const std::size_t end = graph.nodes.size();
    for (const Graph::Output& output : graph.outputs) read(output.value, end);
    for (const Graph::Update& update : graph.updates) read(update.value, end);
    for (const Graph::Gate& gate : graph.gates) read(gate.ok, end);
  }

  /// `place`: that of the node, for outputs without readers.
  std::size_t of(const detail::Node& node, std::size_t output, std::size_t place) const {
    const auto found = last_.find(&node);
    return found == last_.end() ? place : std::max(place, found->second[output]);
  }

 private:
  void read(const Value& value, std::size_t place) {
    const Value base = base_of(value);
    std::vector<std::size_t>& places = last_[base.node().get()];
    places.resize(base.node()->outputs.size());
    places[static_cast<std::size_t>(base.output())] = place;
  }

  std::unordered_map<const detail::Node*, std::vector<std::size_t>> last_;
};

}  // namespace

std::size_t peak_of_live_bytes(const Graph& graph) {
  const LastReaders last(graph);
  std::vector<std::size_t> dying(graph.nodes.size() + 1);  // bytes by the place of their last reader
  std::size_t live = 0, peak = 0;
  for (std::size_t place = 0; place < graph.nodes.size(); ++place) {
    const detail::Node& node = *graph.nodes[place];
    for (std::size_t i = 0; is_in_arena(node) && i < node.outputs.size(); ++i) {
      const std::size_t bytes = bytes_of(node.outputs[i]);
      live += bytes;
      dying[last.of(node, i, place)] += bytes;
    }
    peak = std::max(peak, live);
    live -= dying[place];
  }
  return peak;
}

}  // namespace mezzo
