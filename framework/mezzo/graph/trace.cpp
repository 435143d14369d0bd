#include <mezzo/graph/trace.hpp>

#include <atomic>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/executor.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/read_codes.hpp>
#include <mezzo/graph/thread_state.hpp>

namespace mezzo {
namespace {

Trace*& innermost_trace() { return graph_state().trace; }

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// True if a node casts a split master to bfloat16. Its result is the high half, as in compiled plans. A cast of the
/// joined float32 would differ for values halfway between two bfloat16 numbers.
bool takes_high_half(const detail::Node& node) {
  return is(node, cast_op()) && node.outputs.front().dtype == DType::bfloat16 &&
         is(node.inputs.front(), join_master_op());
}

}  // namespace

detail::RuntimeKey runtime_key(const detail::Node& node) {
  return {static_cast<detail::RuntimeScalar>(node.attributes.get<std::int64_t>("scalar")),
          static_cast<std::size_t>(node.attributes.get<std::int64_t>("optimizer")),
          static_cast<std::size_t>(node.attributes.get<std::int64_t>("earlier"))};
}

MEZZO_API Trace::Trace(Mode mode, bool training)
    : mode_(mode), training_(training), id_(next_id()), outer_(innermost_trace()) {
  if (mode != Mode::body) {
    fresh_.emplace();
  } else {
    loops_ = (outer_ != nullptr ? outer_->loops_ : 0) + 1;
  }
  innermost_trace() = this;
}
MEZZO_API Trace::~Trace() { innermost_trace() = outer_; }
Trace* Trace::current() { return innermost_trace(); }

// Exported for the parts that are libraries of their own, such as mezzo::onnx.
MEZZO_API OutsideTrace::OutsideTrace() : outer_(std::exchange(innermost_trace(), nullptr)) {}
MEZZO_API OutsideTrace::~OutsideTrace() { innermost_trace() = outer_; }

Value Trace::leaf(const Op& op, Attributes attributes, const Spec& spec) {
  auto node = std::make_shared<detail::Node>();
  node->op = &op;
  node->where = detail::current_label(op.name);
  node->attributes = std::move(attributes);
  node->outputs = {spec};
  node->trace = id_;
  graph_.nodes.push_back(node);
  return {node, 0};
}

MEZZO_API Value Trace::input(const std::string& name, const Spec& spec) {
  graph_.inputs.push_back(leaf(input_op(), {{"name", name}}, spec));
  return graph_.inputs.back();
}

Value Trace::input(const std::string& name, const Tensor& numbers) {
  Value value = input(name, Spec{numbers.shape(), numbers.dtype()});
  value.node()->results = {numbers};
  return value;
}

Value Trace::runtime(const detail::RuntimeKey& key) {
  if (mode_ == Mode::body) {
    return outer_ != nullptr ? capture(outer_->runtime(key)) : Value(Tensor::scalar(0, DType::float64));
  }
  Value& value = runtimes_[key];
  if (!value.defined()) {
    value = leaf(runtime_op(),
                 {{"scalar", static_cast<std::int64_t>(key.scalar)},
                  {"optimizer", static_cast<std::int64_t>(key.optimizer)},
                  {"earlier", static_cast<std::int64_t>(key.earlier)}},
                 {{}, DType::float64});
    const auto known = [&] { return runtime_value ? runtime_value(key) : runtime_values[key]; };
    if (mode_ == Mode::eager) value.node()->results = {Tensor::scalar(known(), DType::float64)};
  }
  return value;
}

void Trace::output(const std::string& name, const Value& value) { graph_.outputs.push_back({name, adopt(value)}); }

void Trace::update(const std::shared_ptr<detail::VariableState>& variable, const Value& kept) {
  if (mode_ == Mode::body) {
    fail<ValueError>(detail::current_label("scan"),
                     "[Variable \"{}\"] the body of a loop must not update variables; got one", variable->name);
  }
  const Value value = adopt(update_guard ? update_guard(kept, stored(variable)) : kept);
  stored_[variable.get()] = value;
  joined_.erase(variable.get());
  for (Graph::Update& update : graph_.updates) {
    if (update.variable != variable) continue;
    update.value = value;
    update.group = update_group;
    return;
  }
  graph_.updates.push_back({variable, value, update_group});
}

void Trace::add_loss(std::shared_ptr<const detail::ScopeInfo> layer, const Value& value) {
  if (mode_ == Mode::body)
    fail<ValueError>(detail::current_label("scan"), "the body of a loop must not add losses; got one");
  losses_.push_back({std::move(layer), adopt(value)});
}

void Trace::gate(Graph::Gate gate) {
  gate.ok = adopt(gate.ok);
  graph_.gates.push_back(std::move(gate));
}

Value Trace::read(const std::shared_ptr<detail::VariableState>& variable) {
  if (mode_ == Mode::body) {
    Value& inside = inside_[variable.get()];
    if (!inside.defined()) {
      const ScopedValue<Trace*> outside(innermost_trace(), outer_);
      inside = capture(outer_ != nullptr ? outer_->read(variable) : read_variable(variable));
    }
    return inside;
  }
  if (variable->quantization) return detail::dequantized(variable, detail::read_codes(variable));
  Value value = stored(variable);
  if (variable->remainder) {
    Value& joined = joined_[variable.get()];
    if (!joined.defined()) {
      const Value remainder = stored(variable->remainder, value.shape());  // another rank may have its numbers
      joined = insert_one(join_master_op(), {value, remainder});
    }
    value = joined;
  }
  Reads& reads = reads_[variable.get()];
  if (reads.restarts) {
    reads.values.push_back(value);
    reads.restarts = false;
    read_values_.emplace(value.node().get(), value.output());
  }
  return value;
}

Value Trace::read_stored(const std::shared_ptr<detail::VariableState>& variable) {
  if (mode_ != Mode::body) return stored(variable);
  Value& inside = stored_inside_[variable.get()];
  if (!inside.defined()) {
    inside = capture(outer_ != nullptr ? outer_->read_stored(variable) : Value(variable->value));
  }
  return inside;
}

const Trace::Reads& Trace::reads(const std::shared_ptr<detail::VariableState>& variable) const {
  static const Reads none;
  const auto found = reads_.find(variable.get());
  return found == reads_.end() ? none : found->second;
}

void Trace::restart_reads(const std::shared_ptr<detail::VariableState>& variable) {
  reads_[variable.get()].restarts = true;
}

bool Trace::is_read(const Value& value) const { return read_values_.count({value.node().get(), value.output()}) == 1; }

Value Trace::stored(const std::shared_ptr<detail::VariableState>& variable) {
  return stored(variable, variable->value.shape());
}

Value Trace::stored(const std::shared_ptr<detail::VariableState>& variable, const Shape& shape) {
  Value& value = stored_[variable.get()];
  if (!value.defined()) {
    value = leaf(variable_op(), {{"name", variable->name}}, {shape, variable->value.dtype()});
    value.node()->variable = variable;
    if (mode_ == Mode::eager) value.node()->results = {variable->value};
  }
  return value;
}

Value Trace::adopt(const Value& value) {
  const detail::NodePtr& node = value.node();
  if (node && node->trace == id_) return value;
  if (const auto found = replaced_.find({node.get(), value.output()}); node && found != replaced_.end()) {
    return found->second;
  }
  if (mode_ == Mode::body && node && node->trace != 0 && outer_ != nullptr) return capture(outer_->adopt(value));
  if (node && node->variable) return read(node->variable);
  if (value.symbolic()) {
    fail<ValueError>(node->where,
                     "output of {} is a symbol of another trace or of a functional graph; call the Model that owns it",
                     node->op->name);
  }
  const Tensor numbers = value.tensor().owned();
  Value constant = leaf(constant_op(), {{"value", numbers}}, {numbers.shape(), numbers.dtype()});
  if (mode_ == Mode::eager) constant.node()->results = {numbers};
  return constant;
}

std::int64_t Trace::count(const std::string& path) {
  return mode_ == Mode::body && outer_ != nullptr ? outer_->count(path) : counts_[path]++;
}

Value Trace::capture(const Value& outside, std::optional<DType> cotangent) {
  for (const Captured& known : captured_) {
    if (outside.node() && known.outside.same_as(outside)) return known.inside;
  }
  Attributes attributes{{"name", std::string("captured")}};
  if (cotangent) attributes.set("cotangent", *cotangent);
  captured_.push_back({outside, leaf(input_op(), std::move(attributes), {outside.shape(), outside.dtype()})});
  return captured_.back().inside;
}

Values Trace::append(detail::NodePtr node) {
  for (Value& value : node->inputs) value = adopt(value).with_mask({});
  if (mode_ == Mode::eager && takes_high_half(*node)) {
    node->results = {node->inputs.front().node()->inputs.front().tensor()};
  } else if (mode_ == Mode::eager) {
    std::vector<Tensor> arrays;
    for (const Value& value : node->inputs) arrays.push_back(value.tensor());
    node->results = current_executor().run(*node->op, node->attributes, arrays, node->outputs, node->where);
  }
  node->trace = id_;
  Values out = detail::outputs_of(node);
  graph_.nodes.push_back(std::move(node));
  return out;
}

}  // namespace mezzo
