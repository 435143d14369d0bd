#include <mezzo/onnx/export_traces.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/module/inference_graph.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t trace_count = 3;

/// Sizes of the symbols: `unit` times numbers that differ for each symbol and trace. No row is another one times a
/// factor plus a number, and each has odd and even numbers. The first row is for a batch.
struct Sizes {
  std::int64_t unit;
  std::vector<std::array<std::int64_t, trace_count>> rows;

  std::int64_t at(std::size_t symbol, std::size_t trace, bool batch) const {
    if (batch) return rows.front()[trace];
    return unit * rows[1 + symbol][trace];
  }
};

/// Models with few positions need small sizes, those that halve images several times need multiples of powers of 2.
const std::vector<Sizes>& choices_of_sizes() {
  static const std::array<std::array<std::int64_t, trace_count>, 7> many{
      {{29, 31, 36}, {7, 10, 12}, {17, 18, 23}, {40, 47, 51}, {53, 59, 64}, {67, 70, 79}, {79, 84, 86}}};
  static const std::vector<Sizes> choices{{1, {many.begin(), many.end()}},
                                          {1, {{29, 31, 36}, {5, 8, 9}, {6, 7, 12}, {17, 20, 22}}},
                                          {32, {many.begin(), many.end()}},
                                          {720, {many.begin(), many.end()}},
                                          {1, {{29, 31, 36}, {2, 3, 4}, {5, 8, 9}}}};
  return choices;
}

/// Nodes on which the outputs depend, each after its inputs.
std::vector<const Node*> reached(const Graph& graph) {
  std::vector<const Node*> out;
  std::unordered_map<const Node*, bool> done;
  std::vector<const Node*> pending;
  const auto push = [&](const Value& value) {
    if (value.node() && done.count(value.node().get()) == 0) pending.push_back(value.node().get());
  };
  for (const Value& input : graph.inputs) {
    out.push_back(input.node().get());
    done[input.node().get()] = true;
  }
  for (const Graph::Output& output : graph.outputs) {
    push(output.value);
    while (!pending.empty()) {
      const Node* node = pending.back();
      const std::size_t before = pending.size();
      if (done.count(node) == 0) {
        for (auto input = node->inputs.rbegin(); input != node->inputs.rend(); ++input) push(*input);
      }
      if (pending.size() != before) continue;
      pending.pop_back();
      if (done.emplace(node, true).second) out.push_back(node);
    }
  }
  return out;
}

std::string text_of(const Node& node) {
  return node.where.empty() ? node.op->name : fmt::format("{} {}", node.where, node.op->name);
}

bool same_kind(const Attribute& a, const Attribute& b) { return a.index() == b.index(); }

/// Names the symbols of the inputs without a name: "batch", or the input's name and the axis. If `shared`, open sizes
/// of one axis have one name.
std::vector<ExportInput> with_symbols(std::vector<ExportInput> inputs, bool shared) {
  for (ExportInput& input : inputs) {
    input.symbols.resize(input.spec.shape.size());
    for (std::size_t axis = 0; axis < input.spec.shape.size(); ++axis) {
      if (input.spec.shape[axis] >= 0 || !input.symbols[axis].empty()) continue;
      input.symbols[axis] = axis == 0                      ? "batch"
                            : shared || inputs.size() == 1 ? fmt::format("axis_{}", axis)
                                                           : fmt::format("{}_axis_{}", input.name, axis);
    }
  }
  return inputs;
}

/// Name of the size that is the number of samples: "batch", else the one of the first open axis 0.
std::string symbol_of_samples(const std::vector<ExportInput>& inputs) {
  std::string first;
  for (const ExportInput& input : inputs) {
    for (const std::string& symbol : input.symbols) {
      if (symbol == "batch") return symbol;
    }
    if (first.empty() && !input.symbols.empty()) first = input.symbols.front();
  }
  return first;
}

std::vector<Graph> traced(Module& module, const ExportTraces& of, const Sizes& sizes, const std::string& where) {
  const std::vector<ExportInput>& inputs = of.inputs;
  std::map<std::string, std::size_t> symbols;
  for (const ExportInput& input : inputs) {
    for (const std::string& symbol : input.symbols) {
      if (!symbol.empty() && symbol != of.batch) symbols.emplace(symbol, symbols.size());
    }
  }
  if (symbols.size() >= sizes.rows.size()) {
    fail<ValueError>(where, "at most {} different open sizes are supported beside the batch; got {}",
                     choices_of_sizes().front().rows.size() - 1, symbols.size());
  }
  std::vector<Graph> graphs;
  for (std::size_t trace = 0; trace < trace_count; ++trace) {
    std::vector<Spec> specs;
    for (const ExportInput& input : inputs) {
      specs.push_back(input.spec);
      for (std::size_t axis = 0; axis < input.symbols.size(); ++axis) {
        const std::string& symbol = input.symbols[axis];
        if (symbol.empty()) continue;
        const bool batch = symbol == of.batch;
        specs.back().shape[axis] = sizes.at(batch ? 0 : symbols.at(symbol), trace, batch);
      }
    }
    graphs.push_back(inference_graph(module, specs));
  }
  return graphs;
}

}  // namespace

bool is_fixed(const TracedNumber& number) {
  return std::all_of(number.begin(), number.end(), [&](std::int64_t one) { return one == number.front(); });
}

AlignedGraphs::AlignedGraphs(const std::vector<const Graph*>& graphs, std::string& differs) {
  std::vector<std::vector<const Node*>> orders;
  for (const Graph* graph : graphs) {
    orders.push_back(reached(*graph));
    places_.emplace_back();
    for (std::size_t i = 0; i < orders.back().size(); ++i) places_.back()[orders.back()[i]] = i;
  }
  std::size_t count = orders.front().size();
  for (const auto& order : orders) {
    if (order.size() != count) differs = fmt::format("{} and {} ops", count, order.size());
    count = std::min(count, order.size());
  }
  for (std::size_t i = 0; i < count; ++i) {
    nodes_.emplace_back();
    for (const auto& order : orders) nodes_.back().push_back(order[i]);
  }
  const std::string found = difference();
  if (!found.empty()) differs = found;
}

std::string AlignedGraphs::difference() const {
  for (const TracedNode& node : nodes_) {
    const Node& first = *node.front();
    for (std::size_t t = 1; t < node.size(); ++t) {
      const Node& other = *node[t];
      const auto& a = first.attributes.entries();
      const auto& b = other.attributes.entries();
      bool same = first.op == other.op && first.inputs.size() == other.inputs.size() && a.size() == b.size() &&
                  first.outputs.size() == other.outputs.size() && first.variable == other.variable;
      for (std::size_t i = 0; same && i < first.inputs.size(); ++i) {
        same = places_[0].at(first.inputs[i].node().get()) == places_[t].at(other.inputs[i].node().get()) &&
               first.inputs[i].output() == other.inputs[i].output();
      }
      for (std::size_t i = 0; same && i < a.size(); ++i) {
        same = a[i].first == b[i].first && same_kind(a[i].second, b[i].second);
      }
      for (std::size_t i = 0; same && i < first.outputs.size(); ++i) {
        same = first.outputs[i].dtype == other.outputs[i].dtype &&
               first.outputs[i].shape.size() == other.outputs[i].shape.size();
      }
      if (!same) return fmt::format("{} and {}", text_of(first), text_of(other));
    }
  }
  return {};
}

TracedShape AlignedGraphs::shape(std::size_t node, int output) const {
  TracedShape out(nodes_[node].front()->outputs[static_cast<std::size_t>(output)].shape.size());
  for (const Node* one : nodes_[node]) {
    const Shape& shape = one->outputs[static_cast<std::size_t>(output)].shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) out[axis].push_back(shape[axis]);
  }
  return out;
}

ExportTraces trace_for_export(Module& module, const std::vector<ExportInput>& inputs, const std::string& where) {
  std::exception_ptr first;
  for (const Sizes& sizes : choices_of_sizes()) {
    for (const bool shared : {false, true}) {
      if (shared && inputs.size() == 1) continue;
      ExportTraces out{with_symbols(inputs, shared), {}, {}};
      out.batch = symbol_of_samples(out.inputs);
      try {
        out.graphs = traced(module, out, sizes, where);
      } catch (const Error&) {
        if (!first) first = std::current_exception();
        continue;
      }
      std::vector<const Graph*> graphs;
      for (const Graph& graph : out.graphs) graphs.push_back(&graph);
      std::string differs;
      const AlignedGraphs aligned(graphs, differs);
      if (differs.empty()) return out;
      fail<ValueError>(where,
                       "the ops of the model must be the same for all sizes of its inputs; got {} for different sizes",
                       differs);
    }
  }
  std::rethrow_exception(first);
}

void add_long_trace(Module& module, ExportTraces& traces) {
  constexpr std::int64_t longest = 4096, samples = 43;
  const auto trace_with = [&](std::int64_t size) -> std::optional<Graph> {
    std::vector<Spec> specs;
    for (const ExportInput& input : traces.inputs) {
      specs.push_back(input.spec);
      for (std::size_t axis = 0; axis < input.symbols.size(); ++axis) {
        if (!input.symbols[axis].empty())
          specs.back().shape[axis] = input.symbols[axis] == traces.batch ? samples : size;
      }
    }
    try {
      return inference_graph(module, specs);
    } catch (const Error&) {
      return {};  // more than the model takes
    }
  };
  std::optional<Graph> longer = trace_with(longest);
  for (std::int64_t taken = 1, refused = longest; !longer && refused - taken > 1;) {
    const std::int64_t middle = (taken + refused) / 2;
    std::optional<Graph> graph = trace_with(middle);
    (graph ? taken : refused) = middle;
    if (refused - taken == 1) longer = graph ? std::move(graph) : trace_with(taken);
  }
  if (!longer) return;
  std::string difference;
  const AlignedGraphs aligned({&traces.graphs.front(), &*longer}, difference);
  if (difference.empty()) traces.graphs.push_back(std::move(*longer));
}

}  // namespace mezzo::detail
