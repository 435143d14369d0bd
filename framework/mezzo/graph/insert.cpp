#include <mezzo/graph/insert.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/executor.hpp>
#include <mezzo/graph/node_budget.hpp>
#include <mezzo/graph/number_range.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/read_codes.hpp>
#include <mezzo/graph/replaced_variable.hpp>
#include <mezzo/graph/thread_state.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/graph/wide_state.hpp>
#include <mezzo/precision/op_precision.hpp>

namespace mezzo {
namespace {

/// True if an op of these inputs becomes a node of a functional graph.
bool functional(const Values& inputs) {
  if (Trace::current() != nullptr) return false;
  const bool in_graph = detail::in_functional_graph();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Value& value) { return value.symbolic() || (in_graph && value.node()); });
}

/// Reports the casts made by op lists, if these are verbose.
void tell_casts(const Op& op, const Values& inputs, const std::vector<DType>& dtypes) {
  if (Trace::current() == nullptr || detail::casts_disabled() || graph_state().quiet_casts) return;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].weak() || inputs[i].dtype() == dtypes[i]) continue;
    const Policy policy = detail::current_policy();
    if (policy.by_op() == nullptr || !policy.by_op()->verbose()) return;
    policy.by_op()->report_cast(op.name, detail::current_path(), inputs[i].dtype(), dtypes[i]);
  }
}

Value as_dtype(const Value& value, DType dtype, const std::string& where) {
  if (value.dtype() == dtype && !value.weak()) return value.across_border(false);
  if (value.weak()) return Value(detail::number_as(value.tensor(), dtype, where));
  return insert_one(cast_op(), {value.across_border(false)}, {{"dtype", dtype}});
}

Values compute(const detail::Node& node) {
  std::vector<Tensor> arrays;
  for (const Value& value : node.inputs) arrays.push_back(value.tensor());
  Values out;
  for (Tensor& result : current_executor().run(*node.op, node.attributes, arrays, node.outputs, node.where)) {
    out.emplace_back(std::move(result));
  }
  return out;
}

/// Marks values as computed in the current region.
Values from_here(Values values) {
  const std::uint64_t region = detail::current_region();
  if (region == 0) return values;
  for (Value& value : values) value = value.in_region(region);
  return values;
}

/// True if all operands are C++ integers and the op doesn't convert them to floats.
bool integers_alone(const Op& op, const Values& inputs) {
  const auto promotes = [](Cast how) { return how == Cast::promote; };
  return !inputs.empty() && !op.effect && !op.cast.floats_only &&
         std::all_of(op.cast.operands.begin(), op.cast.operands.end(), promotes) &&
         std::all_of(inputs.begin(), inputs.end(),
                     [](const Value& value) { return value.weak() && value.dtype() == DType::int64; });
}

Values insert_node(const Op& op, Values inputs, Attributes attributes) {
  auto node = std::make_shared<detail::Node>();
  node->op = &op;
  node->attributes = std::move(attributes);
  node->where = detail::current_label(op.name);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail<ValueError>(node->where, "input {} must be defined; got an undefined Value", i);
    if (!inputs[i].node()) static_cast<void>(inputs[i].tensor().raw());  // throws for a tensor that was moved from
  }
  const std::vector<DType> dtypes = detail::operand_dtypes(op, op.cast, inputs);
  const bool uncast = functional(inputs);
  if (!uncast) tell_casts(op, inputs, dtypes);
  std::vector<Spec> specs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    specs.push_back({inputs[i].shape(), dtypes[i]});
    if (!uncast) inputs[i] = as_dtype(inputs[i], dtypes[i], node->where);
  }
  node->outputs = op.infer({specs, node->attributes, node->where});
  node->inputs = std::move(inputs);
  if (uncast) {
    detail::NodeBudget::take(node->outputs, node->where);
    node->frames = detail::current_frames();
    node->regions = detail::outer_regions();
    return detail::outputs_of(node);
  }
  if (op.runs != nullptr) node->op = op.runs;
  Trace* trace = Trace::current();
  if (trace == nullptr) return compute(*node);
  node->path = detail::current_path();
  node->remat = detail::current_remat_calls();
  return trace->append(std::move(node));
}

/// Computes at once: sizes stay numbers while a step is traced. An integer becomes a weak Value.
Values compute_integers(const Op& op, Values inputs, Attributes attributes) {
  const OutsideTrace outside;
  Values out = insert_node(op, std::move(inputs), std::move(attributes));
  for (Value& value : out) {
    if (value.dtype() == DType::int64 && value.shape().empty()) {
      const Tensor number = value.tensor();
      value = number.data<std::int64_t>()[0];
    }
  }
  return out;
}

}  // namespace

bool detail::in_functional_graph() {
  return Trace::current() == nullptr && !detail::current_frames().empty() && detail::current_frames().back().symbolic;
}

std::vector<DType> detail::operand_dtypes(const Op& op, const detail::CastRule& rule, const Values& values) {
  const bool casts = !detail::casts_disabled();
  const std::uint64_t region = detail::current_region();
  std::vector<detail::Operand> operands;
  operands.reserve(values.size());
  for (const Value& value : values) {
    operands.push_back({value.dtype(), casts && (value.crosses_border() || value.region() != region), value.weak()});
  }
  const Policy policy = detail::current_policy();
  if (!casts || policy.by_op() == nullptr) return autocast(rule, operands, policy.compute_dtype());
  return autocast(rule, std::move(operands), policy.by_op()->listing(op.name), policy.by_op()->dtype());
}

Values insert(const Op& op, Values inputs, Attributes attributes) {
  if (integers_alone(op, inputs)) return compute_integers(op, std::move(inputs), std::move(attributes));
  return from_here(insert_node(op, std::move(inputs), std::move(attributes)));
}

Value insert_one(const Op& op, Values inputs, Attributes attributes) {
  return insert(op, std::move(inputs), std::move(attributes)).front();
}

bool stays_wide(const detail::VariableState& variable) {
  if (!variable.fixed_dtype || variable.trainable || !variable.autocast) return false;
  const DType compute = detail::current_policy().compute_dtype();
  return accumulation_dtype(compute) != compute;
}

namespace {

/// A value as the reading layer sees the variable.
Value as_read(const Value& value, const detail::VariableState& variable) {
  return value.across_border(variable.autocast && !stays_wide(variable)).in_region(detail::current_region());
}

}  // namespace

Value detail::read_unrounded(const std::shared_ptr<VariableState>& variable) {
  if (!variable->filled)
    fail<ValueError>("", "[Variable \"{}\"] must have a value (build its layer first); got none", variable->name);
  if (const Value replaced = ReplacedVariable::find(*variable); replaced.defined()) {
    return as_read(replaced, *variable);
  }
  if (Trace* trace = Trace::current()) return as_read(trace->read(variable), *variable);
  auto node = std::make_shared<detail::Node>();  // a node although the value is computed: functional graphs find the
                                                 // variable by it
  node->op = &variable_op();
  node->where = detail::current_label("variable");
  node->variable = variable;
  node->results = {variable->quantization ? detail::dequantized(variable, detail::read_codes(variable)).tensor()
                                          : variable->numbers()};
  node->outputs = {{node->results.front().shape(), node->results.front().dtype()}};
  return as_read(Value(node, 0), *variable);
}

Value read_variable(const std::shared_ptr<detail::VariableState>& variable) {
  const Value numbers = detail::read_unrounded(variable);
  // Layers round. A functional graph keeps the variable, which its model rounds at each call.
  const bool rounds = variable->fake && !detail::current_frames().empty() && !detail::in_functional_graph();
  return rounds ? as_read(detail::rounded_weight(numbers, *variable), *variable) : numbers;
}

void update_variable(const std::shared_ptr<detail::VariableState>& variable, const Value& value) {
  if (value.symbolic() && Trace::current() == nullptr) {
    detail::UpdateCollector* const collector = graph_state().updates;
    if (collector == nullptr) {
      fail<ValueError>("", "[Variable \"{}\"] update: a symbolic value must come from a layer's call; got one outside",
                       variable->name);
    }
    collector->updates_.push_back({variable, value});
    return;
  }
  if (value.shape() != variable->value.shape()) {
    fail<ShapeError>("", "[Variable \"{}\"] update: shape must be {}; got {}", variable->name, variable->value.shape(),
                     value.shape());
  }
  const Value cast = as_dtype(value, variable->dtype(), fmt::format("[Variable \"{}\"] update:", variable->name));
  if (Trace::current() == nullptr) {
    variable->assign(cast.tensor());
  } else if (variable->remainder) {
    const Values halves = insert(split_master_op(), {cast});
    update_stored(variable, halves[0]);
    update_stored(variable->remainder, halves[1]);
  } else {
    update_stored(variable, cast);
  }
}

Value read_stored(const std::shared_ptr<detail::VariableState>& variable) {
  Trace* trace = Trace::current();
  return trace != nullptr ? trace->stored(variable) : Value(variable->value);
}

void update_stored(const std::shared_ptr<detail::VariableState>& variable, const Value& kept) {
  if (Trace* trace = Trace::current()) {
    trace->update(variable, kept);
  } else {
    variable->store(kept.tensor());
  }
}

void update_in_training(const std::shared_ptr<detail::VariableState>& variable, const Value& value) {
  const bool functional_graph = Trace::current() == nullptr && value.symbolic();
  if (functional_graph || (detail::training_phase() && detail::current_trainable())) update_variable(variable, value);
}

void detail::collect_loss(const Value& loss) {
  detail::UpdateCollector* const collector = graph_state().updates;
  if (collector == nullptr) {
    fail<ValueError>("", "[Layer] add_loss: a symbolic value must come from a layer's call; got one outside");
  }
  collector->losses_.push_back(loss);
}

detail::UpdateCollector::UpdateCollector() : outer_(std::exchange(graph_state().updates, this)) {}
detail::UpdateCollector::~UpdateCollector() { graph_state().updates = outer_; }

void detail::UpdateCollector::attach_to(const Value& output) {
  if (output.node()) {
    auto& updates = output.node()->updates;
    updates.insert(updates.end(), updates_.begin(), updates_.end());
    auto& losses = output.node()->losses;
    losses.insert(losses.end(), losses_.begin(), losses_.end());
  }
  updates_.clear();
  losses_.clear();
}

Value detail::runtime_scalar(detail::RuntimeScalar scalar, std::size_t optimizer, std::size_t earlier) {
  Trace* trace = Trace::current();
  return trace != nullptr ? trace->runtime({scalar, optimizer, earlier}) : Value(Tensor::scalar(0, DType::float64));
}

bool detail::training_phase() {
  if (const std::optional<bool> called = detail::current_training()) return *called;
  return Trace::current() != nullptr && Trace::current()->training();
}

namespace {

/// Function of a node of deferred_op().
struct Deferred final : detail::AttributeFunction {
  std::shared_ptr<const detail::AttributeFunction> clone() const override { return std::make_shared<Deferred>(*this); }

  std::function<Values(const Values&)> run;
  std::vector<Spec> outputs;
};

Values insert_deferred(const Values& inputs, const Attributes& attributes);

const Op& deferred_op() {
  static const Op op = [] {
    Op one;
    one.name = "deferred";
    one.reinsert = insert_deferred;
    return one;
  }();
  return op;
}

Values insert_deferred(const Values& inputs, const Attributes& attributes) {
  const auto& payload = attributes.get<std::shared_ptr<const detail::AttributeFunction>>("function");
  const auto& function = static_cast<const Deferred&>(*payload);
  if (!detail::in_functional_graph() && !functional(inputs)) return function.run(inputs);
  auto node = std::make_shared<detail::Node>();
  node->op = &deferred_op();
  node->attributes = attributes;
  node->where = detail::current_label("deferred");
  node->outputs = function.outputs;
  node->inputs = inputs;
  node->frames = detail::current_frames();
  node->regions = detail::outer_regions();
  return detail::outputs_of(node);
}

}  // namespace

Values detail::defer(std::function<Values(const Values&)> function, const Values& inputs, std::vector<Spec> outputs) {
  auto deferred = std::make_shared<Deferred>();
  deferred->run = std::move(function);
  deferred->outputs = std::move(outputs);
  return insert_deferred(inputs, {{"function", std::shared_ptr<const detail::AttributeFunction>(deferred)}});
}

}  // namespace mezzo
