#include <mezzo/onnx/export_layout.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/basic_ops.hpp>

namespace mezzo::detail {
namespace {

constexpr std::array one_operand{
    std::string_view("Abs"),        std::string_view("Cast"), std::string_view("Ceil"),
    std::string_view("Erf"),        std::string_view("Exp"),  std::string_view("Floor"),
    std::string_view("Log"),        std::string_view("Neg"),  std::string_view("Not"),
    std::string_view("Reciprocal"), std::string_view("Relu"), std::string_view("Round"),
    std::string_view("Sigmoid"),    std::string_view("Sign"), std::string_view("Softplus"),
    std::string_view("Sqrt"),       std::string_view("Tanh"), std::string_view("Identity")};

constexpr std::array several_operands{std::string_view("Add"), std::string_view("Sub"), std::string_view("Mul"),
                                      std::string_view("Div"), std::string_view("Max"), std::string_view("Min"),
                                      std::string_view("Pow")};

template <class List>
bool contains(const List& list, const std::string& op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

const ExportAttribute* find(const ExportNode& node, const std::string& name) {
  for (const ExportAttribute& attribute : node.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

Shape permutation_of(const ExportNode& node) { return std::get<Shape>(find(node, "perm")->value); }

/// Value `of`, transposed.
struct View {
  std::string of;
  Shape permutation;
};

class Mover {
 public:
  Mover(ExportGraph& graph, const ExportNames& outputs) : graph_(graph), outputs_(outputs) {}

  void run() {
    const std::vector<ExportNode> nodes = std::exchange(graph_.nodes, {});
    for (const ExportNode& node : nodes) {
      if (node.op == "Transpose" && !kept(node)) {
        views_[node.outputs[0]] = joined(node.inputs[0], permutation_of(node));
      } else if (kept(node) || !move_over(node)) {
        copy(node);
      }
    }
  }

 private:
  bool kept(const ExportNode& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](const std::string& name) {
      return std::find(outputs_.begin(), outputs_.end(), name) != outputs_.end();
    });
  }

  View joined(const std::string& x, const Shape& permutation) const {
    const auto found = views_.find(x);
    if (found == views_.end()) return {x, permutation};
    Shape both;
    for (const std::int64_t axis : permutation)
      both.push_back(found->second.permutation[static_cast<std::size_t>(axis)]);
    return {found->second.of, both};
  }

  /// The value itself, for operators that need its axes in order.
  std::string whole(const std::string& x) {
    const auto found = views_.find(x);
    if (found == views_.end()) return x;
    const View& view = found->second;
    if (std::is_sorted(view.permutation.begin(), view.permutation.end())) return view.of;
    auto& made = made_[x];
    if (made.empty()) {
      made = x;
      graph_.nodes.push_back({"Transpose", {view.of}, {x}, {{"perm", view.permutation}}});
    }
    return made;
  }

  void copy(const ExportNode& node) {
    ExportNode out = node;
    for (std::string& input : out.inputs) input = whole(input);
    visit_bodies(node, [&](const ExportNode& inner) {
      for (const std::string& input : inner.inputs) {
        const std::string value = whole(input);
        if (value == input) continue;
        graph_.nodes.push_back({"Identity", {value}, {input}});
        views_.erase(input);
      }
    });
    graph_.nodes.push_back(std::move(out));
  }

  /// An operand in the order of axes of transposed others: one number, or one for each channel, the last axis.
  std::optional<std::string> constant_beside(const std::string& x, const Shape& permutation) {
    const Tensor* value = graph_.array(x);
    if (value == nullptr || views_.count(x) != 0) return {};
    if (value->size() == 1 && value->shape().size() <= permutation.size()) return x;
    if (value->shape().size() != 1) return {};
    const auto last = static_cast<std::int64_t>(permutation.size()) - 1;
    const std::int64_t place = permutation.back();  // of the channels in the value before its transposition
    auto& made = channels_[{x, place - last}];
    if (!made.empty()) return made;
    Shape axes;
    for (std::int64_t i = place + 1; i <= last; ++i) axes.push_back(i - place);
    if (axes.empty()) return x;
    return made = graph_.add("Unsqueeze", {x, graph_.ints(axes)});
  }

  /// Applies an elementwise operator to the values before their transposition.
  bool move_over(const ExportNode& node) {
    const bool several = contains(several_operands, node.op);
    if (!several && !contains(one_operand, node.op)) return false;
    const View* first = nullptr;
    for (const std::string& input : node.inputs) {
      const auto found = views_.find(input);
      if (found == views_.end()) continue;
      if (first != nullptr && first->permutation != found->second.permutation) return false;
      first = &found->second;
    }
    if (first == nullptr) return false;
    const Shape permutation = first->permutation;
    ExportNode out = node;
    for (std::string& input : out.inputs) {
      const auto found = views_.find(input);
      if (found != views_.end()) {
        input = found->second.of;
        continue;
      }
      const auto other = constant_beside(input, permutation);
      if (!other) return false;
      input = *other;
    }
    out.outputs = {graph_.unique(node.outputs[0])};
    graph_.declare(out.outputs[0], graph_.dtype(node.outputs[0]));
    views_[node.outputs[0]] = {out.outputs[0], permutation};
    graph_.nodes.push_back(std::move(out));
    return true;
  }

  ExportGraph& graph_;
  const ExportNames& outputs_;
  std::unordered_map<std::string, View> views_;
  std::unordered_map<std::string, std::string> made_;
  std::map<std::pair<std::string, std::int64_t>, std::string> channels_;
};

}  // namespace

void move_transposes(ExportGraph& graph, const ExportNames& outputs) { Mover(graph, outputs).run(); }

void transpose_arrays(ExportGraph& graph) {
  const OutsideTrace at_once;
  std::unordered_map<std::string, std::vector<ExportNode*>> readers;
  std::unordered_map<std::string, bool> in_body;
  for (ExportNode& node : graph.nodes) {
    for (const std::string& input : node.inputs) readers[input].push_back(&node);
    visit_bodies(node, [&](const ExportNode& inner) {
      for (const std::string& input : inner.inputs) in_body[input] = true;
    });
  }
  for (auto& [name, value] : graph.arrays) {
    const auto found = readers.find(name);
    if (found == readers.end() || in_body[name]) continue;
    std::vector<ExportNode*> transposes = found->second;
    // Weights of a lower compute dtype are cast first.
    if (transposes.size() == 1 && transposes[0]->op == "Cast") transposes = readers[transposes[0]->outputs[0]];
    const bool all = std::all_of(transposes.begin(), transposes.end(), [&](const ExportNode* node) {
      return node->op == "Transpose" && permutation_of(*node) == permutation_of(*transposes.front());
    });
    if (transposes.empty() || !all) continue;
    value = transpose(Value(value), permutation_of(*transposes.front())).tensor();
    for (ExportNode* node : transposes) {
      node->op = "Identity";
      node->attributes.clear();
    }
  }
}

void remove_unused(ExportGraph& graph, const ExportNames& outputs) {
  std::set<std::string> needed(outputs.begin(), outputs.end());
  std::vector<ExportNode> kept;
  // Identity nodes, but those that name an output, are replaced by their operand.
  std::unordered_map<std::string, std::string> same;
  std::set<std::string> in_bodies;
  for (const ExportNode& node : graph.nodes) {
    visit_bodies(node, [&](const ExportNode& inner) { in_bodies.insert(inner.inputs.begin(), inner.inputs.end()); });
  }
  for (ExportNode& node : graph.nodes) {
    for (std::string& input : node.inputs) {
      if (const auto found = same.find(input); found != same.end()) input = found->second;
    }
    const bool named = needed.count(node.outputs[0]) + in_bodies.count(node.outputs[0]) != 0;
    if (node.op == "Identity" && !named) same[node.outputs[0]] = node.inputs[0];
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [&](const std::string& name) { return needed.count(name) != 0; });
    if (!used) continue;
    needed.insert(node->inputs.begin(), node->inputs.end());
    visit_bodies(*node, [&](const ExportNode& inner) { needed.insert(inner.inputs.begin(), inner.inputs.end()); });
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  graph.keep_arrays(needed);
}

void name_outputs(ExportGraph& graph, const ExportNames& outputs) {
  std::unordered_map<std::string, ExportNode*> makers;
  std::set<std::string> in_bodies;
  for (ExportNode& node : graph.nodes) {
    for (const std::string& name : node.outputs) makers[name] = &node;
    visit_bodies(node, [&](const ExportNode& inner) { in_bodies.insert(inner.inputs.begin(), inner.inputs.end()); });
  }
  std::unordered_map<std::string, std::string> renamed;
  for (const std::string& output : outputs) {
    const ExportNode& named = *makers.at(output);
    if (named.op != "Identity") continue;
    const std::string from = named.inputs[0];
    const bool is_output = std::find(outputs.begin(), outputs.end(), from) != outputs.end();
    if (makers.count(from) == 0 || is_output || in_bodies.count(from) != 0) continue;
    renamed.emplace(from, output);
  }
  std::vector<ExportNode> kept;
  for (ExportNode& node : graph.nodes) {
    if (node.op == "Identity") {
      const auto found = renamed.find(node.inputs[0]);
      if (found != renamed.end() && found->second == node.outputs[0]) continue;
    }
    for (ExportNames* names : {&node.inputs, &node.outputs}) {
      for (std::string& name : *names) {
        if (const auto found = renamed.find(name); found != renamed.end()) name = found->second;
      }
    }
    kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
}

}  // namespace mezzo::detail
