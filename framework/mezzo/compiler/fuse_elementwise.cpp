#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/elementwise_program.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

constexpr std::size_t most_steps = 32, most_inputs = 12;

bool computed_as_float(DType dtype) {
  return dtype == DType::float32 || dtype == DType::bfloat16 || dtype == DType::float16 || dtype == DType::boolean;
}

/// True if the op computes bools from numbers 0 and 1 as well; arithmetic of bools is bitwise.
bool computes_bools(const detail::Node& node) {
  return is(node, ops::cast) || is(node, ops::equal) || is(node, ops::less) || is(node, ops::less_equal) ||
         is(node, ops::logical_and) || is(node, ops::logical_not) || is(node, ops::logical_or) || is(node, ops::where);
}

/// True for ops that chains can contain. Casts of variables are compute copies, which the optimizer writes.
bool fits(const detail::Node& node) {
  if (!is_elementwise(*node.op) || node.outputs.size() != 1) return false;
  if (!computed_as_float(node.outputs[0].dtype) || element_count(node.outputs[0].shape) == 0) return false;
  if (node.outputs[0].dtype == DType::boolean && !computes_bools(node)) return false;
  const bool casts = is(node, ops::cast);
  if (casts && node.inputs[0].node()->variable) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const Value& input) {
    return computed_as_float(input.dtype()) || (casts && input.dtype() == DType::uint8);
  });
}

/// Operand of a chain: the source of a broadcast, since kernels of chains broadcast themselves.
Value unstretched(Value value) {
  while (is(value, ops::broadcast_to)) value = value.node()->inputs.front();
  return value;
}

/// A set of nodes to be fused, in the order of the graph.
struct Group {
  std::vector<detail::NodePtr> nodes;
  bool open = true;  ///< false: a node outside reads a result, so the chain must run before it
};

/// Divides the nodes into groups. A node joins the groups whose results it reads, if they are open: then no path leads
/// out of the group and back, and the place of its last node comes before all readers.
class Groups {
 public:
  explicit Groups(const Graph& graph) {
    for (const detail::NodePtr& node : graph.nodes) visit(node);
  }

  /// The group of a node if it has two nodes or more; null otherwise.
  const Group* of(const detail::Node& node) const {
    const auto found = index_.find(&node);
    if (found == index_.end()) return nullptr;
    const Group& group = groups_[found->second];
    return group.nodes.size() > 1 ? &group : nullptr;
  }

 private:
  void visit(const detail::NodePtr& node) {
    std::vector<std::size_t> joined;
    const bool member = fits(*node);
    for (const Value& input : node->inputs) {
      const auto found = index_.find(input.node().get());
      if (found == index_.end()) continue;
      const bool joins = member && groups_[found->second].open &&
                         groups_[found->second].nodes.front()->outputs[0].shape == node->outputs[0].shape;
      if (joins && std::find(joined.begin(), joined.end(), found->second) == joined.end()) {
        joined.push_back(found->second);
      }
    }
    if (!member || !within_limits(joined, node)) joined.clear();
    for (const Value& input : node->inputs) {
      const auto found = index_.find(input.node().get());
      if (found == index_.end()) continue;
      if (std::find(joined.begin(), joined.end(), found->second) == joined.end()) groups_[found->second].open = false;
    }
    if (!member) return;
    if (joined.empty()) {
      groups_.push_back({{node}});
      index_[node.get()] = groups_.size() - 1;
    } else {
      merge(joined, node);
    }
  }

  bool within_limits(const std::vector<std::size_t>& joined, const detail::NodePtr& node) const {
    std::unordered_set<const detail::Node*> members{node.get()};
    std::vector<const detail::Node*> all{node.get()};
    for (const std::size_t i : joined) {
      for (const detail::NodePtr& one : groups_[i].nodes) {
        members.insert(one.get());
        all.push_back(one.get());
      }
    }
    std::unordered_set<const detail::Node*> sources;
    for (const detail::Node* one : all) {
      for (const Value& input : one->inputs) {
        if (members.count(input.node().get()) == 0) sources.insert(unstretched(input).node().get());
      }
    }
    return all.size() <= most_steps && sources.size() <= most_inputs;
  }

  /// Adds the node to the groups and merges them.
  void merge(const std::vector<std::size_t>& joined, const detail::NodePtr& node) {
    const std::size_t target = *std::min_element(joined.begin(), joined.end());
    for (const std::size_t i : joined) {
      if (i == target) continue;
      for (const detail::NodePtr& one : groups_[i].nodes) {
        groups_[target].nodes.push_back(one);
        index_[one.get()] = target;
      }
      groups_[i].nodes.clear();
    }
    groups_[target].nodes.push_back(node);
    index_[node.get()] = target;
  }

  std::vector<Group> groups_;
  std::unordered_map<const detail::Node*, std::size_t> index_;
};

/// Values that are read outside of the group of their node.
class Outside {
 public:
  Outside(const Graph& graph, const Groups& groups) {
    const auto read = [&](const Value& value) { read_.insert(value.node().get()); };
    for (const detail::NodePtr& node : graph.nodes) {
      const Group* group = groups.of(*node);
      for (const Value& input : node->inputs) {
        if (group == nullptr || groups.of(*input.node()) != group) read(input);
      }
    }
    for (const auto& output : graph.outputs) read(output.value);
    for (const auto& update : graph.updates) read(update.value);
    for (const auto& gate : graph.gates) read(gate.ok);
  }

  bool reads(const detail::Node& node) const { return read_.count(&node) != 0; }

 private:
  std::unordered_set<const detail::Node*> read_;
};

/// The value of the new graph for an input of the group's chain.
Value renewed_value(const Value& value, const Group& group,
                    const std::unordered_map<const detail::Node*, Values>& renewed) {
  for (const detail::NodePtr& node : group.nodes) {
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const detail::Node* reader = node.get();
      std::size_t place = i;
      Value input = node->inputs[i];
      while (!input.same_as(value) && is(input, ops::broadcast_to)) {
        reader = input.node().get();
        place = 0;
        input = reader->inputs.front();
      }
      if (input.same_as(value)) return renewed.at(reader)[place];
    }
  }
  return value;
}

/// The program of a group, and the inputs and outputs of its chain.
class Builder {
 public:
  Builder(const Group& group, const Outside& outside) {
    auto program = std::make_shared<ElementwiseProgram>();
    const std::vector<detail::NodePtr>& nodes = group.nodes;
    for (const detail::NodePtr& node : nodes) members_.insert(node.get());
    for (const detail::NodePtr& node : nodes) collect(*node);
    program->inputs = inputs.size();
    for (const detail::NodePtr& node : nodes) {
      ElementwiseStep step;
      step.op = node->op;
      step.attributes = node->attributes;
      step.dtype = node->outputs[0].dtype;
      step.where = node->where;
      step.path = node->path;
      for (const Value& input : node->inputs) step.operands.push_back(place(input, program->inputs));
      if (outside.reads(*node)) {  // the last first: kernels write output 0 while they compute it
        program->outputs.insert(program->outputs.begin(), program->steps.size());
        outputs.insert(outputs.begin(), node->outputs[0]);
        sources.insert(sources.begin(), node);
      }
      steps_[node.get()] = program->steps.size();
      program->steps.push_back(std::move(step));
    }
    attributes = {{"program", std::shared_ptr<const detail::AttributeFunction>(std::move(program))},
                  {"shape", nodes.front()->outputs[0].shape}};
  }

  Values inputs;                         ///< of the old graph
  std::vector<detail::NodePtr> sources;  ///< the nodes whose results are the outputs
  std::vector<Spec> outputs;
  Attributes attributes;

 private:
  void collect(const detail::Node& node) {
    for (const Value& input : node.inputs) {
      if (members_.count(input.node().get()) != 0) continue;
      const Value source = unstretched(input);
      if (find(source) == inputs.size()) inputs.push_back(source);
    }
  }

  std::size_t find(const Value& value) const {
    const auto same = [&](const Value& other) { return other.same_as(value); };
    return static_cast<std::size_t>(std::find_if(inputs.begin(), inputs.end(), same) - inputs.begin());
  }

  std::size_t place(const Value& input, std::size_t count) const {
    const auto step = steps_.find(input.node().get());
    return step == steps_.end() ? find(unstretched(input)) : count + step->second;
  }

  std::unordered_set<const detail::Node*> members_;
  std::unordered_map<const detail::Node*, std::size_t> steps_;
};

}  // namespace

Graph fuse_elementwise(const Graph& graph) {
  const Groups groups(graph);
  const Outside outside(graph, groups);
  std::unordered_map<const detail::Node*, Values> renewed;  // inputs of the nodes of the old graph, in the new one
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    renewed[old.get()] = node->inputs;
    const Group* group = groups.of(*old);
    if (group == nullptr) return {};
    if (group->nodes.back() != old) return {Value()};  // replaced below, before its first reader
    const Builder chain(*group, outside);
    Values inputs;
    for (const Value& input : chain.inputs) inputs.push_back(renewed_value(input, *group, renewed));
    const auto named = [](const detail::NodePtr& one) { return !one->path.empty(); };
    const auto origin = std::find_if(group->nodes.rbegin(), group->nodes.rend(), named);
    const detail::Node& from = origin == group->nodes.rend() ? *old : **origin;
    const Values all = to.add(make_node(ops::elementwise_chain, inputs, chain.attributes, chain.outputs, from));
    Value last;
    for (std::size_t i = 0; i < all.size(); ++i) {
      to.replace(chain.sources[i], {all[i]});
      if (chain.sources[i] == old) last = all[i];
    }
    return {last};
  });
}

}  // namespace mezzo
