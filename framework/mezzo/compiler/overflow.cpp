#include <mezzo/compiler/overflow.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <set>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/square_limit.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/graph/executor.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

bool has_output(const std::vector<int>& outputs, int output) {
  return std::find(outputs.begin(), outputs.end(), output) != outputs.end();
}

/// The number of this rank in a sum over ranks; undefined for other values.
Value sent_for(const Value& sum) {
  const detail::Node& node = *sum.node();
  if (!node.attributes.has(sent_inputs)) return {};
  const auto index = node.attributes.get<Shape>(sent_inputs)[static_cast<std::size_t>(sum.output())];
  return node.inputs.front().node()->inputs[static_cast<std::size_t>(index)];
}

/// True if `value` is computed from the node.
bool depends_on(const Value& value, const detail::Node& node) {
  std::unordered_set<const detail::Node*> seen;
  std::vector<const detail::Node*> pending;
  const auto push = [&](const Value& one) {
    if (const Value sent = sent_for(one); sent.defined()) {  // no other number of the bucket
      seen.insert(one.node().get());
      if (seen.insert(sent.node().get()).second) pending.push_back(sent.node().get());
    } else if (seen.insert(one.node().get()).second) {
      pending.push_back(one.node().get());
    }
  };
  push(value);
  while (!pending.empty() && seen.count(&node) == 0) {
    const detail::Node& next = *pending.back();
    pending.pop_back();
    for (const Value& input : next.inputs) push(input);
  }
  return seen.count(&node) != 0;
}

/// True if reports look through a finite value to the operands of its node: numbers that tell if others are finite, and
/// their sums over ranks.
bool passes_on(const Value& value) {
  const detail::Node& node = *value.node();
  if (node.op->view || node.attributes.has(orders_only) || is(node, ops::all_finite)) return true;
  if (is(node, ops::gradient_multiplier)) return value.output() == 1;
  const Value sent = sent_for(value);
  return sent.defined() && sent.node()->attributes.has(orders_only);
}

}  // namespace

bool computes_in_float16(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const detail::NodePtr& node) {
    if (node->op->infer == nullptr && !node->variable) return false;
    return std::any_of(node->outputs.begin(), node->outputs.end(),
                       [](const Spec& spec) { return spec.dtype == DType::float16; });
  });
}

bool all_finite(const void* data, const Spec& spec) {
  if (!is_floating(spec.dtype)) return true;
  return visit_dtype(spec.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Wide = std::conditional_t<std::is_class_v<T>, float, double>;
    std::atomic<bool> finite{true};
    const auto* x = static_cast<const T*>(data);
    parallel_for(element_count(spec.shape), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (!std::isfinite(static_cast<Wide>(x[i]))) {
          finite = false;
          return;
        }
      }
    });
    return finite.load();
  });
}

std::string describe(const std::optional<Overflow>& overflow) {
  if (!overflow) return "a value is not finite";
  const std::string path = overflow->path.empty() ? "" : fmt::format("\"{}\"", overflow->path);
  const char* space = path.empty() ? "" : " ";
  if (overflow->op == "input" || overflow->op == "variable" || overflow->op == "constant") {
    return fmt::format("{}{}{} holds a value that is not finite ({})", overflow->op, space, path, overflow->dtype);
  }
  const std::string into = overflow->reader.empty() ? "" : fmt::format(" into \"{}\"", overflow->reader);
  return fmt::format("{}{}{}{}{} gave the first value that is not finite ({})", path, space, overflow->op,
                     overflow->backward ? " in the backward pass" : "", into, overflow->dtype);
}

std::string error_of(const Graph::Gate& gate, const std::optional<Overflow>& overflow) {
  const Attributes& attributes = gate.ok.node()->attributes;
  if (!overflow && attributes.has("headroom")) {
    return fmt::format(
        "[Trainer] gradients must be finite when the optimizer squares them; got a magnitude of {:.1e} or more; no "
        "weight was changed by this step",
        largest_square_root(DType::float32) / attributes.get<double>("headroom"));
  }
  return fmt::format("{}: {}; no weight was changed by this step", gate.error, describe(overflow));
}

namespace {

const ElementwiseProgram& program_of(const detail::Node& chain) {
  const auto& function = chain.attributes.get<std::shared_ptr<const detail::AttributeFunction>>("program");
  return dynamic_cast<const ElementwiseProgram&>(*function);
}

/// Path of the first layer in a chain that reads the step's result, directly or through steps without a layer.
std::string layer_after(const ElementwiseProgram& program, const ElementwiseStep& step) {
  std::vector<bool> reached(program.inputs + program.steps.size(), false);
  bool found = false;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const ElementwiseStep& one = program.steps[i];
    const bool reads = std::any_of(one.operands.begin(), one.operands.end(),
                                   [&](std::size_t operand) { return found && reached[operand]; });
    if (reads && !one.path.empty()) return one.path;
    found = found || &one == &step;
    reached[program.inputs + i] = reads || &one == &step;
  }
  return {};
}

}  // namespace

const ElementwiseStep* first_overflow(const detail::Node& node, const std::vector<const void*>& operands) {
  if (!is(node, ops::elementwise_chain)) return nullptr;
  const ElementwiseProgram& program = program_of(node);
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < program.inputs; ++i) {
    values.push_back(Tensor::uninitialized(node.inputs[i].shape(), node.inputs[i].dtype()));
    std::memcpy(values.back().mutable_raw(), operands[i], values.back().bytes());
  }
  for (const ElementwiseStep& step : program.steps) {
    std::vector<Tensor> inputs;
    for (const std::size_t i : step.operands) inputs.push_back(values[i]);
    const Spec spec{node.outputs.front().shape, step.dtype};
    values.push_back(current_executor().run(*step.op, step.attributes, inputs, {spec}, step.where).front());
    if (!all_finite(values.back().raw(), spec)) return &step;
  }
  return nullptr;
}

void Overflows::note(const Value& value, const std::string& reader, const ElementwiseStep* step) {
  const DType dtype = step == nullptr ? value.dtype() : step->dtype;
  const auto added = entries_.try_emplace(value.node().get(), Entry{entries_.size(), position_, dtype, reader, step});
  added.first->second.outputs.push_back(value.output());
}

std::optional<Overflow> Overflows::behind(const Value& ok, const Value& loss_ok) const {
  const Cause cause = cause_of(ok.node()->inputs);
  std::optional<Overflow> out = first_of(cause);
  if (out) out->backward = !depends_on(loss_ok, *cause.begin()->second);
  return out;
}

std::optional<Overflow> Overflows::behind_output(const Value& output) const { return first_of(cause_of({output})); }

Overflows::Cause Overflows::cause_of(Values pending) const {
  Cause cause;
  std::set<std::pair<const detail::Node*, int>> seen;
  const auto push_inputs = [&](const detail::Node& node) {
    for (const Value& input : node.inputs) {
      if (seen.emplace(input.node().get(), input.output()).second) pending.push_back(input);
    }
  };
  while (!pending.empty()) {
    const Value value = pending.back();
    pending.pop_back();
    const detail::Node& node = *value.node();
    const auto found = entries_.find(&node);
    const bool noted = found != entries_.end() && has_output(found->second.outputs, value.output());
    if (noted) cause.emplace(found->second.order, &node);
    if (noted || passes_on(value)) push_inputs(node);
  }
  return cause;
}

std::optional<Overflow> Overflows::first_of(const Cause& cause) const {
  if (cause.empty()) return {};
  const detail::Node& first = *cause.begin()->second;
  const Entry& entry = entries_.at(&first);
  Overflow out{.op = first.op->name, .path = first.path, .reader = "", .dtype = entry.dtype, .step = entry.position};
  if (const ElementwiseStep* step = entries_.at(&first).step) {
    out.op = step->op->name;
    out.path = step->path;
    if (out.path.empty()) out.reader = layer_after(program_of(first), *step);
  } else if (first.variable) {
    out.path = (entry.reader.empty() ? "" : entry.reader + "/") + first.variable->name;
  } else if (first.op->infer == nullptr) {
    out.path = first.attributes.get_or<std::string>("name", "");
  }
  if (out.path.empty() && out.reader.empty()) out.reader = first_layer_after(cause);
  return out;
}

std::string Overflows::first_layer_after(const Cause& cause) {
  std::unordered_set<const detail::Node*> reached{cause.begin()->second};
  for (const auto& [order, node] : cause) {
    for (const Value& input : node->inputs) {
      const detail::Node* source = input.node().get();
      while (source->op->view && reached.count(source) == 0) source = source->inputs.front().node().get();
      if (reached.count(source) == 0) continue;
      if (!node->path.empty()) return node->path;
      reached.insert(node);
    }
  }
  return {};
}

Overflows detail::Plan::noted(std::size_t steps) {
  Overflows found;
  // Only the arena has been written so far, so the kernels compute the same numbers again.
  refresh_copies();
  for (std::size_t i = 0; i < steps; ++i) {
    const Step& step = steps_[i];
    found.at(i);
    if (!step.copies) note_operands(step, found);
    const ElementwiseStep* first = first_overflow(*step.node, step.in);  // before an operand is overwritten
    step.chosen.kernel->run({step.in.data(), step.out.data(), arena_->data() + step.scratch_offset});
    for (std::size_t j = 0; j < step.writes.size() && !step.copies; ++j) {
      const Spec& spec = buffers_[step.writes[j]].spec;
      if (!all_finite(step.out[j], spec)) found.note({step.node, static_cast<int>(j)}, {}, first);
    }
  }
  return found;
}

void detail::Plan::check_outputs() {
  non_finite_output_.reset();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Buffer& buffer = buffers_[outputs_[i]];
    if (all_finite(buffer.address, buffer.spec)) continue;
    non_finite_output_ = NonFiniteOutput{output_names_[i], {}};
    const bool repeatable = std::none_of(commits_.begin(), commits_.end(), [](const Commit& c) { return c.in_place; });
    if (repeatable) non_finite_output_->origin = noted(steps_.size()).behind_output(output_values_[i]);
    return;
  }
}

void detail::Plan::seek_overflow() {
  const Overflows found = noted(gates_at_);
  for (const Gate& gate : gates_) {
    if (opened(gate) || gate.on_failure == Graph::OnFailure::leave_out || overflow(gate.group)) continue;
    const auto loss =
        std::find_if(gates_.begin(), gates_.end(), [&](const Gate& other) { return other.group == gate.group; });
    const std::optional<Overflow> overflow = found.behind(gate.ok, loss->ok);
    if (overflow) overflows_.emplace_back(gate.group, *overflow);
  }
}

/// Checks the operands that no kernel of the plan computes: inputs, constants, variables and their compute copies.
void detail::Plan::note_operands(const Step& step, Overflows& overflows) const {
  for (std::size_t i = 0; i < step.reads.size(); ++i) {
    const Buffer& buffer = buffers_[step.reads[i]];
    if (buffer.home == Buffer::Home::arena || all_finite(step.in[i], buffer.spec)) continue;
    const Value value = base_of(step.node->inputs[i]);
    if (buffer.home == Buffer::Home::copy) {
      const detail::NodePtr& source = value.node()->inputs.front().node();
      const Tensor& stored = source->variable->value;
      if (!all_finite(stored.raw(), {stored.shape(), stored.dtype()})) overflows.note({source, 0}, step.node->path);
    }
    overflows.note(value, step.node->path);
  }
}

std::optional<Overflow> detail::Plan::overflow(int group) const {
  const auto found =
      std::find_if(overflows_.begin(), overflows_.end(), [&](const auto& entry) { return entry.first == group; });
  if (found == overflows_.end()) return {};
  return found->second;
}

}  // namespace mezzo
