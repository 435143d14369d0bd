#include <mezzo/nn/functional.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/called_layer.hpp>
#include <mezzo/nn/input.hpp>
#include <mezzo/nn/layer_order.hpp>
#include <mezzo/nn/penalties.hpp>

namespace mezzo {
namespace {

detail::Shared<detail::LayerState> layer_of(const detail::Frame& frame) {
  return detail::Shared<detail::LayerState>(
      std::static_pointer_cast<detail::LayerState>(std::const_pointer_cast<detail::ScopeInfo>(frame.info)));
}

/// The value, or a copy if it is a view of memory of others, which may end before the graph.
Value owned_constant(const Value& value) {
  if (value.weak() || !value.defined()) return value;
  return Value(value.tensor().owned())
      .across_border(value.crosses_border())
      .in_region(value.region())
      .with_mask(value.mask());
}

}  // namespace

/// Appends the nodes behind the outputs to the graph, each after its inputs.
class detail::FunctionalGraph::Reader {
 public:
  Reader(detail::FunctionalGraph& graph, const Values& inputs, detail::LayerState& owner)
      : graph_(graph), owner_(owner) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const detail::NodePtr& node = inputs[i].node();
      if (!node || node->variable || !inputs[i].symbolic()) {
        fail<ValueError>("[Model]", "inputs: entry {} must be an Input or another symbol; got {}", i,
                         node && node->variable ? "a variable" : "a tensor");
      }
      if (node->outputs.size() != 1 || node->outputs.front().shape.empty()) {
        fail<ValueError>(
            "[Model]",
            "inputs: entry {} must be a symbol with a batch axis, the only output of its op; got one of {} "
            "outputs of {}, of shape {}",
            i, node->outputs.size(), node->op->name, inputs[i].shape());
      }
      inputs_[node.get()] = i;
      graph.inputs_.push_back(node->outputs.front());
      graph.input_names_.push_back(is(*node, input_op()) ? node->attributes.get_or("name", std::string()) : "");
    }
  }

  /// Depth first, with an explicit stack, since graphs may be deep.
  void read(const Value& output) {
    if (output.node()) pending_.push_back(output.node());
    while (!pending_.empty()) {
      const detail::NodePtr node = pending_.back();
      const std::size_t before = pending_.size();
      if (!known(*node)) push_inputs(*node);
      if (pending_.size() > before) continue;
      pending_.pop_back();
      if (!known(*node)) add(node);
    }
  }

  Operand operand(const Value& value) {
    Operand out;
    out.crosses_border = value.crosses_border();
    out.output = value.output();
    const detail::NodePtr& node = value.node();
    if (!node) {
      out.constant = owned_constant(value);
    } else if (node->variable) {
      out.kind = Operand::Kind::variable;
      out.index = variable_index(node->variable);
    } else if (const auto input = inputs_.find(node.get()); input != inputs_.end()) {
      out.kind = Operand::Kind::input;
      out.index = input->second;
    } else {
      out.kind = Operand::Kind::step;
      out.index = steps_.at(node.get());
    }
    return out;
  }

  /// Records the result of a step for read_masks() if it has a mask.
  void note_mask(const Value& value) {
    const detail::NodePtr& node = value.node();
    if (!node || steps_.count(node.get()) == 0 || !value.mask().defined()) return;
    if (masked_.emplace(node.get(), value.output()).second) with_masks_.push_back(value);
  }

  /// Reads the recorded masks, and those of the values behind them.
  void read_masks() {
    for (; read_masks_ < with_masks_.size(); ++read_masks_) {
      const Value value = with_masks_[read_masks_];
      read(value.mask());
      graph_.masks_.emplace_back(operand(value), operand(value.mask()));
    }
  }

  /// Enters the layers in Keras' order, then those that the layout doesn't have.
  void enter_layers() {
    for (const detail::Shared<detail::LayerState>& state : detail::layer_order(graph_.layout_))
      owner_.enter(state->name, state);
    for (auto& step : graph_.steps_) {
      if (step.layers.empty()) continue;
      auto& outermost = step.layers.front();
      outermost.entry = owner_.enter(outermost.state->name, outermost.state);
    }
  }

  const std::unordered_map<const detail::Node*, std::size_t>& steps() const { return steps_; }
  const std::unordered_map<const detail::Node*, std::size_t>& inputs() const { return inputs_; }

 private:
  bool known(const detail::Node& node) const {
    return node.variable || inputs_.count(&node) != 0 || steps_.count(&node) != 0;
  }

  /// The first operand comes last, so that it is read first.
  void push_inputs(const detail::Node& node) {
    for (auto input = node.inputs.rbegin(); input != node.inputs.rend(); ++input) {
      if (input->node() && !known(*input->node())) pending_.push_back(input->node());
    }
  }

  void add(const detail::NodePtr& node) {
    if (is(*node, input_op())) {
      fail<ValueError>("[Model]", "inputs must hold every Input that the outputs depend on; {} is missing",
                       node->where);
    }
    Step step;
    step.op = node->op;
    for (const auto& [name, value] : node->attributes.entries()) {
      if (name != detail::CalledLayer::attribute) step.attributes.set(name, value);
    }
    for (const Value& input : node->inputs) step.inputs.push_back(operand(input));
    for (const Value& input : node->inputs) note_mask(input);
    step.regions = node->regions;
    for (const detail::Frame& frame : node->frames) {
      step.layers.push_back({.state = layer_of(frame),
                             .entry = frame.entry,
                             .regions = frame.regions,
                             .training = frame.training,
                             .remat = frame.remat});
    }
    steps_[node.get()] = graph_.steps_.size();
    graph_.steps_.push_back(std::move(step));
    add_updates(*node);
  }

  void add_updates(const detail::Node& node) {
    const std::size_t index = steps_.at(&node);
    for (const detail::Node::Update& update : node.updates) {
      const auto pending = std::exchange(pending_, {});
      read(update.value);
      pending_ = pending;
      graph_.steps_[index].updates.push_back(
          {.variable = detail::Shared<detail::VariableState>(update.variable), .value = operand(update.value)});
    }
    for (const Value& loss : node.losses) {
      const auto pending = std::exchange(pending_, {});
      read(loss);
      pending_ = pending;
      graph_.steps_[index].losses.push_back(operand(loss));
    }
  }

  std::size_t variable_index(const std::shared_ptr<detail::VariableState>& variable) {
    auto& all = graph_.variables_;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.pointer() == variable; });
    const auto index = static_cast<std::size_t>(found - all.begin());
    if (index == all.size()) all.emplace_back(variable);
    return index;
  }

  detail::FunctionalGraph& graph_;
  detail::LayerState& owner_;
  std::unordered_map<const detail::Node*, std::size_t> inputs_, steps_;
  std::vector<detail::NodePtr> pending_;
  std::set<std::pair<const detail::Node*, int>> masked_;
  Values with_masks_;
  std::size_t read_masks_ = 0;
};

detail::FunctionalGraph::OwnAttributes::OwnAttributes(const OwnAttributes& other) : Attributes(other) {
  if (detail::CloneScope::current() == nullptr) return;
  for (const auto& entry : other.entries()) {
    const auto* function = std::get_if<std::shared_ptr<const detail::AttributeFunction>>(&entry.second);
    if (function == nullptr || *function == nullptr) continue;
    if (auto copy = (*function)->clone()) set(entry.first, std::move(copy));
  }
}

detail::FunctionalGraph::FunctionalGraph(const Values& inputs, const Values& outputs, detail::LayerState& owner) {
  Reader reader(*this, inputs, owner);
  for (const Value& output : outputs) {
    reader.read(output);
    outputs_.push_back(reader.operand(output));
    if (output.mask().defined()) reader.read(output.mask());
  }
  output_steps_ = steps_.size();
  for (const Value& output : outputs) reader.note_mask(output);
  reader.read_masks();
  read_layout(reader.inputs(), reader.steps());
  reader.enter_layers();
}

bool detail::FunctionalGraph::adds_losses() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return !step.losses.empty(); });
}

Values detail::FunctionalGraph::insert(const Values& xs) const {
  std::vector<Values> results;
  return insert(xs, results, true);
}

void detail::FunctionalGraph::name_outputs(const std::vector<std::string>& names, const std::string& where) {
  if (names.size() != outputs_.size()) {
    fail<ValueError>(where, "output_names must be {}, one for each output; got {}", outputs_.size(), names.size());
  }
  for (const std::string& name : names) {
    if (!name.empty() && std::count(names.begin(), names.end(), name) == 1) continue;
    fail<ValueError>(where, "output_names must differ and not be empty; got \"{}\"", name);
  }
  layout_.output_names = names;
}

std::vector<std::string> detail::FunctionalGraph::output_names() const {
  if (!layout_.output_names.empty()) return layout_.output_names;
  std::vector<std::string> names;
  for (const Operand& output : outputs_) {
    std::string name = "output";
    if (output.kind == Operand::Kind::step) {
      const Step& step = steps_[output.index];
      name = step.layers.empty() ? step.op->name : step.layers.front().entry;
    } else if (output.kind == Operand::Kind::input && !input_names_[output.index].empty()) {
      name = input_names_[output.index];
    }
    const std::string first = name;
    for (int i = 1; std::find(names.begin(), names.end(), name) != names.end(); ++i) {
      name = fmt::format("{}_{}", first, i);
    }
    names.push_back(name);
  }
  return names;
}

const detail::FunctionalGraph::Symbols& detail::FunctionalGraph::symbols() const {
  if (symbols_.pointer()) return *symbols_.pointer();
  auto symbols = std::make_shared<Symbols>();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Spec& spec = inputs_[i];
    const Shape sample(spec.shape.begin() + 1, spec.shape.end());
    symbols->inputs.push_back(
        Input({.shape = sample, .batch_size = spec.shape.front(), .dtype = spec.dtype, .name = input_names_[i]}));
  }
  std::vector<Values> results;
  symbols->outputs = insert(symbols->inputs, results, false);
  note_calls(symbols->inputs, results);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    for (const auto& layer : steps_[i].layers) {
      const auto same = [&](const auto& entry) { return entry.first == layer.state.get(); };
      const auto found = std::find_if(symbols->layers.begin(), symbols->layers.end(), same);
      if (found == symbols->layers.end()) {
        symbols->layers.emplace_back(layer.state.get(), results[i].front());
      } else {
        found->second = results[i].front();
      }
    }
  }
  // The last op of a container may make a mask. For layers that the graph calls, the output of the last call is
  // therefore used.
  std::map<const detail::LayerState*, std::size_t> last;
  for (std::size_t i = 0; i < layout_.calls.size(); ++i) {
    const auto& layer = layout_.calls[i].layer;
    const std::size_t step = call_outputs_[i].front().first,
                      output = static_cast<std::size_t>(call_outputs_[i].front().second);
    if (!layer || step >= results.size()) continue;
    const auto [place, first] = last.emplace(layer->get(), step);
    if (!first && place->second > step) continue;
    place->second = step;
    for (auto& entry : symbols->layers) {
      if (entry.first == layer->get()) entry.second = results[step][output];
    }
  }
  symbols_.set(std::move(symbols));
  return *symbols_.pointer();
}

}  // namespace mezzo
