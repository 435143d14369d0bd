#include <mezzo/nn/layer_order.hpp>

#include <algorithm>
#include <unordered_map>

namespace mezzo::detail {
namespace {

using Operand = GraphLayout::Operand;

/// Calls behind the outputs of a functional model.
class Walk {
 public:
  explicit Walk(const GraphLayout& layout) : layout_(layout), operations_(layout.calls.size()) {
    std::unordered_map<const LayerState*, std::size_t> known;
    for (std::size_t i = 0; i < layout.calls.size(); ++i) {
      const auto& layer = layout.calls[i].layer;
      operations_[i] = layer ? known.emplace(layer->get(), i).first->second : i;
    }
    reached_.assign(layout.calls.size(), 0);
    entered_.assign(layout.calls.size(), false);
    for (const Operand& output : layout.outputs) visit(output);
    measure();
  }

  std::vector<Shared<LayerState>> layers() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (operations_[i] == i && reached_[i] > 0 && layout_.calls[i].layer) all.push_back(i);
    }
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
      return ways_[a] != ways_[b] ? ways_[a] > ways_[b] : reached_[a] < reached_[b];
    });
    std::vector<Shared<LayerState>> out;
    for (const std::size_t i : all) out.push_back(*layout_.calls[i].layer);
    return out;
  }

 private:
  struct Visit {
    std::size_t call;
    std::size_t next = 0;  ///< operand
  };

  /// Operands without masks.
  std::size_t operand_count(const GraphLayout::Call& call) const { return call.inputs.size() - call.masked.size(); }

  /// An explicit stack, since graphs may be deep.
  void visit(const Operand& output) {
    std::vector<Visit> pending;
    const auto enter = [&](const Operand& operand) {
      if (operand.kind != Operand::Kind::call || entered_[operand.index]) return;
      entered_[operand.index] = true;
      std::size_t& reached = reached_[operations_[operand.index]];
      if (reached == 0) reached = ++count_;
      pending.push_back({operand.index});
    };
    enter(output);
    while (!pending.empty()) {
      Visit& top = pending.back();
      const GraphLayout::Call& call = layout_.calls[top.call];
      if (top.next < operand_count(call)) {
        enter(call.inputs[top.next++]);
      } else {
        finished_.push_back(top.call);
        pending.pop_back();
      }
    }
  }

  /// Lengths of the longest paths. A layer that is called twice has one length, which applies to all of its calls that
  /// are visited later.
  void measure() {
    ways_.assign(operations_.size(), 0);
    std::vector<std::size_t> ways(operations_.size(), 0);
    for (auto i = finished_.rbegin(); i != finished_.rend(); ++i) {
      std::size_t& way = ways_[operations_[*i]];
      way = std::max(way, ways[*i]);
      const GraphLayout::Call& call = layout_.calls[*i];
      for (std::size_t k = 0; k < operand_count(call); ++k) {
        const Operand& operand = call.inputs[k];
        if (operand.kind == Operand::Kind::call) ways[operand.index] = std::max(ways[operand.index], way + 1);
      }
    }
  }

  const GraphLayout& layout_;
  std::vector<std::size_t> operations_;  // of each call: the first call of its layer, or itself
  std::vector<std::size_t> reached_;     // of each operation: when it was reached, from 1 on
  std::vector<std::size_t> ways_;        // of each operation
  std::vector<bool> entered_;            // of each call
  std::vector<std::size_t> finished_;    // calls, each after its operands
  std::size_t count_ = 0;
};

}  // namespace

std::vector<Shared<LayerState>> layer_order(const GraphLayout& layout) { return Walk(layout).layers(); }

}  // namespace mezzo::detail
