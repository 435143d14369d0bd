#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <mezzo/compiler/inference/frozen_constants.hpp>
#include <mezzo/compiler/plan_parts.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// Copies bytes into a buffer of the arena.
class CopyBytes : public Kernel {
 public:
  explicit CopyBytes(std::size_t bytes) : bytes_(bytes) {}
  void run(const KernelArguments& arguments) override {
    std::copy_n(arguments.in<unsigned char>(0), bytes_, arguments.out<unsigned char>(0));
  }

 private:
  std::size_t bytes_;
};

}  // namespace

/// Makes a Plan from a graph: buffers, then kernels, then offsets in the arena.
class PlanBuilder {
 public:
  PlanBuilder(detail::Plan& plan, const Graph& graph) : plan_(plan), graph_(graph) {}

  void build() {
    find_deferred();
    for (const detail::NodePtr& node : graph_.nodes) {
      if (deferred_.count(node.get()) == 0) add_node(node, -1);
    }
    for (const auto& output : graph_.outputs) {
      plan_.output_names_.push_back(output.name);
      plan_.outputs_.push_back(lasting(output.value));
      plan_.output_values_.push_back(output.value);
    }
    for (const auto& gate : graph_.gates) {
      plan_.gates_.push_back({gate, buffer_of(gate.ok)});
    }
    add_commits();
    const std::size_t computing = plan_.steps_.size();
    for (const detail::NodePtr& node : graph_.nodes) {
      const auto found = deferred_.find(node.get());
      if (found != deferred_.end()) add_node(node, found->second);
    }
    UpdateSchedule(plan_, computing, views_).apply();
    BufferPlacement(plan_, views_).apply();
    finish();
  }

 private:
  using Home = detail::Plan::Buffer::Home;

  std::size_t new_buffer(Home home, std::size_t index, const Spec& spec) {
    detail::Plan::Buffer buffer;
    buffer.home = home;
    buffer.index = index;
    buffer.spec = spec;
    plan_.buffers_.push_back(std::move(buffer));
    return plan_.buffers_.size() - 1;
  }

  std::size_t buffer_of(const Value& value) const {
    return buffers_.at(value.node().get())[static_cast<std::size_t>(value.output())];
  }

  std::size_t variable_index(const std::shared_ptr<detail::VariableState>& variable) {
    auto& all = plan_.variables_;
    const auto found = std::find(all.begin(), all.end(), variable);
    if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
    all.push_back(variable);
    plan_.written_.push_back(false);
    return all.size() - 1;
  }

  /// Finds update ops that can write into the variables, after the gates. Every output must be an update of the
  /// variable that the op reads at the same place. The op must not read a variable that another such op writes.
  void find_deferred() {
    const Uses uses(graph_);
    std::map<detail::NodePtr, std::pair<int, int>> candidates;  // node -> number of such outputs, group
    for (const auto& update : graph_.updates) {
      const detail::Node& node = *update.value.node();
      const auto output = static_cast<std::size_t>(update.value.output());
      if (output >= in_place_outputs(node) || uses.of(update.value) != 1) continue;
      if (node.inputs[node.op->in_place[output]].node()->variable != update.variable) continue;
      auto& candidate = candidates[update.value.node()];
      ++candidate.first;
      candidate.second = update.group;
    }
    for (const auto& [node, candidate] : candidates) {
      int used = 0;
      for (std::size_t i = 0; i < node->outputs.size(); ++i) used += uses.of({node, static_cast<int>(i)});
      const bool all = candidate.first == static_cast<int>(in_place_outputs(*node));
      if (all && used == candidate.first) deferred_[node.get()] = candidate.second;
    }
    std::set<const detail::VariableState*> written;
    for (const auto& update : graph_.updates) {
      if (deferred_.count(update.value.node().get()) != 0) written.insert(update.variable.get());
    }
    for (auto node = deferred_.begin(); node != deferred_.end();) {
      node = reads_any(*node->first, written) ? deferred_.erase(node) : std::next(node);
    }
  }

  /// Number of an update op's outputs that are variables: all except the compute copy at the end.
  static std::size_t in_place_outputs(const detail::Node& node) {
    if (node.op->in_place.empty()) return 0;
    return node.outputs.size() - (node.attributes.has("copy_dtype") ? 1 : 0);
  }

  /// True if the node reads one of `variables`, or a copy of one, that it does not update.
  static bool reads_any(const detail::Node& node, const std::set<const detail::VariableState*>& variables) {
    const auto own = node.op->in_place.begin();
    const auto end = own + static_cast<std::ptrdiff_t>(in_place_outputs(node));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (std::find(own, end, i) != end) continue;
      const detail::Node* source = node.inputs[i].node().get();
      while (source->op->view || is(*source, ops::cast)) source = source->inputs.front().node().get();
      if (variables.count(source->variable.get()) != 0) return true;
    }
    return false;
  }

  void add_node(const detail::NodePtr& node, int group) {
    if (node->op->infer == nullptr) {
      add_leaf(node);
    } else if (node->op->view) {
      buffers_[node.get()] = {new_view(buffer_of(node->inputs.front()), node->outputs.front())};
    } else if (!add_copy(node)) {
      add_step(node, group);
    }
  }

  void add_leaf(const detail::NodePtr& node) {
    const Spec& spec = node->outputs.front();
    auto& out = buffers_[node.get()];
    if (node->variable) {
      out = {new_buffer(Home::variable, variable_index(node->variable), spec)};
    } else if (is(*node, input_op())) {
      const auto is_node = [&](const Value& input) { return input.node() == node; };
      const auto found = std::find_if(graph_.inputs.begin(), graph_.inputs.end(), is_node);
      out = {new_buffer(Home::input, static_cast<std::size_t>(found - graph_.inputs.begin()), spec)};
    } else if (is(*node, runtime_op())) {
      out = {new_buffer(Home::runtime, plan_.runtime_keys_.size(), spec)};
      plan_.runtime_keys_.push_back(runtime_key(*node));
    } else {
      out = {new_buffer(Home::constant, plan_.constants_.size(), spec)};
      plan_.constants_.push_back(node->attributes.get<Tensor>("value"));
    }
  }

  /// Adds a buffer on the bytes of `base`.
  std::size_t new_view(std::size_t base, const Spec& spec) {
    const std::size_t view = new_buffer(plan_.buffers_[base].home, plan_.buffers_[base].index, spec);
    views_.lay(view, base);
    return view;
  }

  /// Handles a cast of a variable: a leaf on the compute copy that is stored with the variable. False for other nodes.
  bool add_copy(const detail::NodePtr& node) {
    const auto& variable = is(*node, ops::cast) ? node->inputs.front().node()->variable : nullptr;
    if (!variable || !is_floating(node->outputs.front().dtype)) return false;
    buffers_[node.get()] = {copy_buffer(variable, node->outputs.front().dtype)};
    return true;
  }

  std::size_t copy_buffer(const std::shared_ptr<detail::VariableState>& variable, DType dtype) {
    const Spec spec{variable->value.shape(), dtype};
    for (std::size_t i = 0; i < plan_.copies_.size(); ++i) {
      if (plan_.copies_[i].variable == variable && plan_.copies_[i].dtype == dtype) {
        return new_buffer(Home::copy, i, spec);
      }
    }
    detail::Plan::Copy copy;
    copy.variable = variable;
    copy.dtype = dtype;
    copy.entry = plan_.arena_->copies.find_or_add(variable, dtype);
    copy.refresh = choose_kernel({.op = &ops::cast,
                                  .attributes = {{"dtype", dtype}},
                                  .inputs = {{variable->value.shape(), variable->value.dtype()}},
                                  .outputs = {spec},
                                  .where = "[cast]"})
                       .kernel;
    plan_.copies_.push_back(std::move(copy));
    return new_buffer(Home::copy, plan_.copies_.size() - 1, spec);
  }

  void add_step(const detail::NodePtr& node, int group) {
    detail::Plan::Step step;
    step.node = node;
    step.updates = deferred_.count(node.get()) != 0;
    step.group = group;
    KernelRequest request{
        .op = node->op, .attributes = node->attributes, .inputs = {}, .outputs = node->outputs, .where = node->where};
    for (const Value& input : node->inputs) {
      const Tensor* const numbers = detail::frozen_value(*input.node());
      if (numbers != nullptr) request.constants.emplace(request.inputs.size(), *numbers);
      request.inputs.push_back({input.shape(), input.dtype()});
      step.reads.push_back(buffer_of(input));
    }
    step.chosen = choose_kernel(request);
    for (std::size_t i = 0; i < node->outputs.size(); ++i) {
      step.writes.push_back(step.updates ? deferred_target(*node, i, group)
                                         : new_buffer(Home::arena, 0, node->outputs[i]));
    }
    buffers_[node.get()] = step.writes;
    plan_.steps_.push_back(std::move(step));
  }

  std::size_t deferred_target(const detail::Node& node, std::size_t output, int group) {
    if (output < in_place_outputs(node)) {
      const Value& variable = node.inputs[node.op->in_place[output]];
      plan_.written_[variable_index(variable.node()->variable)] = true;
      return buffer_of(variable);
    }
    const std::size_t buffer = copy_buffer(node.inputs.front().node()->variable, node.outputs[output].dtype);
    detail::Plan::Copy& copy = plan_.copies_[plan_.buffers_[buffer].index];
    copy.written = true;
    copy.group = group;
    return buffer;
  }

  void add_commits() {
    for (const auto& update : graph_.updates) {
      const bool in_place = deferred_.count(update.value.node().get()) != 0;
      variable_index(update.variable);
      const std::size_t buffer = in_place ? 0 : lasting(update.value);
      plan_.commits_.push_back(
          {.variable = update.variable, .buffer = buffer, .group = update.group, .in_place = in_place});
    }
  }

  /// The buffer that holds a value until the next run. A value in a variable, a compute copy or an input is copied into
  /// the arena before any variable is written.
  std::size_t lasting(const Value& value) {
    const std::size_t source = buffer_of(value);
    const Home home = plan_.buffers_[source].home;
    if (home != Home::variable && home != Home::copy && home != Home::input) return source;
    detail::Plan::Step step;
    step.node = value.node();
    step.chosen.kernel = std::make_unique<CopyBytes>(bytes_of(plan_.buffers_[source].spec));
    step.chosen.implementation = "copy";
    step.copies = true;
    step.reads = {source};
    step.writes = {new_buffer(Home::arena, 0, plan_.buffers_[source].spec)};
    plan_.steps_.push_back(std::move(step));
    return plan_.steps_.back().writes.front();
  }

  void finish() {
    plan_.runtime_.resize(plan_.runtime_keys_.size());
    for (const Value& input : graph_.inputs) plan_.input_specs_.push_back({input.shape(), input.dtype()});
    plan_.input_addresses_.resize(plan_.input_specs_.size());
    for (auto& step : plan_.steps_) {
      step.in.resize(step.reads.size());
      step.out.resize(step.writes.size());
    }
    plan_.closed_.reserve(plan_.gates_.size());
    plan_.left_out_.reserve(plan_.gates_.size());
    plan_.used_copies_.resize(plan_.arena_->copies.size());
    for (const detail::Plan::Copy& copy : plan_.copies_) plan_.used_copies_[copy.entry] = true;
    plan_.profile_ = Profile(plan_.steps_.size() + detail::Plan::chores);
  }

  detail::Plan& plan_;
  const Graph& graph_;
  std::unordered_map<const detail::Node*, std::vector<std::size_t>> buffers_;
  Views views_;
  std::unordered_map<const detail::Node*, int> deferred_;
};

detail::Plan::Plan(const Graph& graph, std::shared_ptr<Arena> arena) : arena_(std::move(arena)) {
  PlanBuilder(*this, graph).build();
}

}  // namespace mezzo
