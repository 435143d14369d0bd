#include <mezzo/nn/layer.hpp>

#include <algorithm>
#include <set>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/called_layer.hpp>
#include <mezzo/nn/layer_label.hpp>
#include <mezzo/nn/loop_step.hpp>
#include <mezzo/nn/penalties.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/nn/waiting_weights.hpp>
#include <mezzo/nn/weight_access.hpp>
#include <mezzo/nn/weight_budget.hpp>
#include <mezzo/nn/weight_conversion.hpp>
#include <mezzo/nn/weight_dtypes.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/precision/policy_map.hpp>

namespace mezzo {
namespace {

/// The layers' part of a thread's ExecutionContext.
struct LayerContext {
  detail::LayerState* running = nullptr;  // the innermost one: layers that it calls become its children
};

detail::LayerState*& caller() { return detail::ExecutionContext::current().part<LayerContext>().running; }

void collect(const detail::LayerState& state, const std::string& path, std::vector<detail::PolicyLevel> levels,
             bool trainable, std::vector<detail::WeightPolicy>& out) {
  if (!state.policy.inherits()) levels.push_back({.policy = state.policy, .path = path});
  const Policy policy = detail::policy_at(levels, path);
  const std::string prefix = path.empty() ? "" : path + "/";
  trainable = trainable && state.trainable;
  for (const Variable& weight : state.weights) {
    const bool seen = std::any_of(
        out.begin(), out.end(), [&](const detail::WeightPolicy& entry) { return entry.variable.id() == weight.id(); });
    if (seen) continue;
    out.push_back({.path = prefix + weight.name(),
                   .variable = weight,
                   .policy = policy,
                   .trainable = trainable && weight.trainable()});
  }
  for (const auto& child : state.children) collect(*child.second, prefix + child.first, levels, trainable, out);
}

/// Sets the policy that dtype_policy() returns, for a layer and its sub-layers.
void show_policy(detail::LayerState& state, const std::string& path, std::vector<detail::PolicyLevel> levels) {
  if (!state.policy.inherits()) levels.push_back({.policy = state.policy, .path = path});
  state.last_policy = detail::policy_at(levels, path);
  for (const auto& child : state.children) {
    show_policy(*child.second, path + (path.empty() ? "" : "/") + child.first, levels);
  }
}

/// Notes the inputs of the call that builds the layer. Those of a call that failed are replaced.
void note_inputs(detail::LayerState& state, const Values& xs) {
  if (!state.called) state.built_for.clear();
  if (!state.built_for.empty()) return;
  for (const Value& x : xs) state.built_for.push_back({x.shape(), x.dtype()});
}

void check_first_call(const detail::LayerState& state, const std::string& label) {
  detail::check_weight_names(state, label);
  detail::require_known_layer(state, state.policy, label);
}

}  // namespace

Values Layer::operator()(const Values& xs, const CallOptions& options) {
  check_not_moved();
  if (xs.empty()) fail<ValueError>(label(), "takes at least one input; got 0");
  const Values given = masked(xs, options);
  if (caller() == nullptr) detail::CalledRoots::note(state_);
  if (auto weights = detail::take_waiting_weights(*state_)) {
    weights->build_and_load(*this, xs, options);
  }
  Values out = run(given, options);
  set_masks(given, out);
  detail::keep_masks(out);
  return out;
}

Values Layer::run(const Values& xs, const CallOptions& options) {
  detail::LayerState* parent = caller();
  const bool adopted = parent != nullptr && parent != state_.get();  // the step of a root calls the root itself
  const std::string entry = adopted ? parent->enter(state_->name, state_) : std::string();
  const bool symbolic = std::any_of(xs.begin(), xs.end(), [](const Value& x) { return x.symbolic(); }) ||
                        (!detail::current_frames().empty() && detail::current_frames().back().symbolic);
  if (parent == nullptr && !symbolic && Trace::current() == nullptr) state_->clear_losses();
  const bool functional = symbolic && Trace::current() == nullptr;
  // The calls of a functional graph may get a rule later.
  const bool has_rule = remat() && Trace::current() != nullptr && adopted;
  const auto call = functional || has_rule ? std::make_shared<detail::RematCall>() : nullptr;
  const detail::Scope scope(detail::Frame{.info = state_.pointer(),
                                          .entry = entry,
                                          .symbolic = symbolic,
                                          .regions = {},
                                          .training = options.training,
                                          .remat = call});
  const ScopedValue<detail::LayerState*> running(caller(), state_.get());
  // Updates are attached to the output of the layer that made them, not to that of a sub-layer.
  detail::UpdateCollector updates;
  const Policy policy = detail::current_policy();
  state_->last_policy = policy;
  if (!built_) {
    const ScopedValue<bool> building(building_, true);
    note_inputs(*state_, xs);
    build(xs.front().shape());
  }
  Values crossed;
  for (const Value& x : xs) crossed.push_back(x.across_border(!x.weak()));
  Values out = call_many(crossed);
  if (state_->activity_regularizer) {
    for (const Value& y : out) add_loss(detail::activity_penalty(state_->activity_regularizer, y));
  }
  const DType output = policy.output_dtype();
  // Outputs that are symbols of a functional graph are cast when the model is called.
  const bool casts = output != policy.compute_dtype() || detail::has_wide_state(*state_);
  if (!functional && !detail::casts_disabled() && casts) {
    for (Value& y : out) {
      if (is_floating(y.dtype()) && y.dtype() != output) y = cast(y, output).with_mask(y.mask());
    }
  }
  if (call) call->again = detail::computed_again(state_->remat, out);
  built_ = true;  // at the end, so that a call on a wrong shape leaves a container unbuilt
  for (Value& y : out) {
    for (const Value& x : xs) {
      if (y.same_as(x)) y = x;  // passed through unchanged: keeps its dtype and its border mark
    }
  }
  if (!state_->called) check_first_call(*state_, label());
  state_->called = true;
  state_->last_output = out.front().shape();
  if (!updates.empty()) out.front() = identity(out.front()).with_mask(out.front().mask());
  updates.attach_to(out.front());
  state_->type = &typeid(*this);
  if (functional && !adopted && detail::current_frames().size() == 1) {
    note_call(xs, out, options);
    detail::keep_called_layer(detail::copy_of_layer(*this), xs, out);
  }
  return out;
}

Values Layer::call_with(const std::string& arguments, const Values&, const CallOptions&) {
  fail<ValueError>(label(), "this layer takes no call arguments; got {}", arguments);
}

void Layer::note_call(const Values& xs, const Values& out, const CallOptions& options) const {
  detail::LayerCall call{
      .inputs = {}, .outputs = {}, .training = options.training, .arguments = call_arguments(), .masked = {}};
  for (const Value& x : xs) call.inputs.push_back({x.node(), x.output(), x.node() ? Value() : x});
  const Values& masks = options.mask.values();
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const bool given = i < masks.size() && masks[i].defined();
    if (!given && detail::has_own_mask(xs[i])) continue;
    const Value mask = given ? masks[i] : xs[i].mask();  // else by with_mask()
    call.inputs.push_back({mask.node(), mask.defined() ? mask.output() : -1, mask.node() ? Value() : mask});
    call.masked.push_back(static_cast<std::int64_t>(i));
  }
  for (const Value& y : out) call.outputs.push_back({y.node(), y.output(), {}});
  std::vector<detail::LayerCall>& calls = state_->calls;
  const auto gone = [](const detail::LayerCall& known) {
    return std::all_of(known.outputs.begin(), known.outputs.end(), [](const auto& y) { return y.node.expired(); });
  };
  calls.erase(std::remove_if(calls.begin(), calls.end(), gone), calls.end());
  calls.push_back(std::move(call));
}

void Layer::build(const Shape& input) {
  if (built_ || building_) return;
  auto node = std::make_shared<detail::Node>();
  node->op = &input_op();
  node->where = label();
  node->outputs = {Spec{.shape = input, .dtype = DType::float32}};
  const OutsideTrace symbols_only;
  (*this)(Value(node, 0));
}

Policy Layer::dtype_policy() const {
  if (!state_->last_policy.inherits()) return state_->last_policy;
  return state_->policy.inherits() ? detail::current_policy() : state_->policy;
}

void Layer::to(const Policy& policy) {
  const detail::WeightAccess access(weights(), label(), "to");
  detail::require_same_quantization(*state_, policy, label());
  detail::require_known_layer(*state_, policy, label());
  const auto before = detail::replace_policies(*state_, policy);
  try {
    detail::require_no_adapters(*state_, label() + " to:");
    detail::require_convertible_to_codes(*state_, label() + " to:");
    for (const detail::WeightPolicy& weight : detail::weight_policies(*this, {})) {
      detail::require_finite_as(detail::stored_dtype(weight), weight.path, *weight.variable.state(), label() + " to:");
    }
  } catch (...) {
    for (const auto& [layer, kept] : before) layer->policy = kept;
    throw;
  }
  show_policy(*state_, "", {{.policy = mezzo::dtype_policy(), .path = "", .of_layer = false}});
  for (const detail::WeightPolicy& weight : detail::weight_policies(*this, {})) {
    if (weight.variable.filled()) weight.variable.state()->convert(detail::stored_dtype(weight));
  }
  detail::quantize_by_policies(*state_);
}

Value Layer::call(const Value&) { fail<ValueError>(label(), "must override call() or call_many(); got neither"); }

Values Layer::call_many(const Values& xs) {
  if (xs.size() != 1) fail<ValueError>(label(), "takes one input; got {}", xs.size());
  return {call(xs[0])};
}

void Layer::add_loss(const Value& loss) {
  if (!loss.defined()) fail<ValueError>(label(), "add_loss: the loss must be defined; got an undefined Value");
  detail::add_loss(state_, loss);
}

Values Layer::losses() const {
  Values out;
  const auto add = [&](const Value& loss) { out.push_back(detail::as_loss(loss)); };
  std::vector<const detail::LayerState*> below{state_.get()};
  std::set<const detail::ScopeInfo*> known{state_.get()};
  for (std::size_t i = 0; i < below.size(); ++i) {
    for (const auto& child : below[i]->children) {
      if (known.insert(child.second.get()).second) below.push_back(child.second.get());
    }
  }
  if (const Trace* trace = Trace::current()) {
    for (const Trace::AddedLoss& added : trace->losses()) {
      if (known.count(added.layer.get()) != 0) add(added.value);
    }
  } else {
    for (const detail::LayerState* layer : below) {
      for (const Value& loss : layer->losses) add(loss);
    }
  }
  for (const detail::WeightPolicy& weight : detail::weight_policies(*this, {})) {
    const detail::VariableState& state = *weight.variable.state();
    if (weight.trainable && state.filled && state.regularizer) out.push_back(detail::penalty_of(weight.variable));
  }
  return out;
}

Value Layer::added_loss() const {
  const detail::LibraryScope as_inserted;
  Value sum;
  for (const Value& loss : losses()) sum = sum.defined() ? sum + loss : loss;
  return sum.defined() ? sum : Value(Tensor::scalar(0));
}

Value detail::AnyCalls<Layer>::operator()(const Value& x, const CallOptions& options) const {
  return (*this)(Values{x}, options).front();
}

Values detail::AnyCalls<Layer>::operator()(const Values& xs, const CallOptions& options) const {
  const auto& handle = static_cast<const Any<Layer>&>(*this);
  if (!handle) fail<ValueError>("[Layer]", "a handle must hold a layer to be called; got an empty Any<Layer>");
  return (*handle)(xs, options);
}

void Layer::declare(const std::string& name, const detail::Shared<detail::LayerState>& child) {
  if (state_->called) {
    fail<ValueError>(label(), "sub(\"{}\") must come before the first call, in the constructor; got it after a call",
                     name);
  }
  state_->enter(name, child);
}

void Layer::check_own_name(const detail::VariableState& added, const WeightOptions& options) const {
  const std::string& name = options.file_name.empty() ? added.name : options.file_name;
  detail::check_text_name(label(), name);
  for (const Variable& other : state_->weights) {
    const detail::VariableState& known = *other.state();
    if (&known == &added || (known.file_name.empty() ? known.name : known.file_name) != name) continue;
    fail<NameError>(label(), "names of weights must differ; got \"{}\" twice", name);
  }
}

void Layer::check_not_moved() const {
  if (!usable_) fail<ValueError>(label(), "the object must not be used after it was moved from");
}

void Layer::add_weight(Variable& variable, const WeightOptions& options) {
  check_not_moved();
  detail::VariableState& box = *variable.state();
  check_own_name(box, options);
  const bool listed = std::any_of(state_->weights.begin(), state_->weights.end(),
                                  [&](const Variable& weight) { return weight.id() == variable.id(); });
  if (box.filled) {
    if (box.shape() != options.shape) {
      fail<ShapeError>(label(), "{} was built with shape {}; this input needs {}", box.name, box.shape(),
                       options.shape);
    }
    if (!listed) state_->weights.push_back(variable);
    return;
  }
  for (const auto size : options.shape) {
    if (size < 0) fail<ShapeError>(label(), "{} needs known sizes; got shape {}", box.name, options.shape);
  }
  const Policy policy = detail::current_frames().empty() ? dtype_policy() : detail::current_policy();
  const DType wanted = policy.variable_dtype();
  // Sums over steps would stop growing in 16 bits. A dtype of the layer's own policy is kept.
  const bool wide = options.at_least_float32 || (!options.trainable && state_->policy.inherits());
  const DType dtype = wide ? accumulation_dtype(wanted) : wanted;
  if (auto* budget = detail::LayerWeightBudget::innermost()) {
    budget->take(options.shape, label());
    box.value = Tensor(options.shape, dtype);
  } else {
    if (!options.initializer) {
      fail<ValueError>(label(), "{}: the initializer must be given; got an empty Any<Initializer>", box.name);
    }
    options.initializer->check_not_moved();
    box.value = options.initializer->make(options.shape, dtype, detail::mix(seed(), detail::next_stream())).owned();
  }
  box.trainable = options.trainable;
  box.autocast = options.autocast;
  box.fixed_dtype = wide;
  if (options.regularizer) box.regularizer = [r = options.regularizer](const Value& w) { return (*r)(w); };
  if (options.constraint) box.constraint = [c = options.constraint](const Value& w) { return (*c)(w); };
  box.file_name = options.file_name;
  box.file_axes = options.file_axes;
  box.file_shape = options.file_shape;
  box.filled = true;
  box.policy_version = detail::version_of_dtype();
  box.quantizable = options.quantizable;
  state_->last_policy = policy;
  if (!listed) state_->weights.push_back(variable);
  if (detail::has_form(policy)) {
    detail::require_known_weights(*state_, state_->policy, label());
    detail::quantize_weight(*state_, variable, detail::form_of(policy));
  }
}

void Layer::update(const Variable& variable, const Value& value) {
  update_in_training(variable.state().pointer(), value);
}

std::string Layer::label() const {
  std::string here = detail::current_label(state_->kind);
  if (!detail::current_frames().empty() && detail::current_frames().back().info == state_.pointer()) return here;
  return detail::label_of(*state_);
}

detail::RootScope::RootScope(const Layer& root)
    : scope_(detail::Frame{.info = root.state().pointer(), .entry = ""}),
      outer_(std::exchange(caller(), root.state().get())) {}
detail::RootScope::~RootScope() { caller() = outer_; }

detail::CalledBy::CalledBy(const detail::Shared<detail::LayerState>& layer)
    : outer_(std::exchange(caller(), layer.get())) {}
detail::CalledBy::~CalledBy() { caller() = outer_; }

DType detail::stored_dtype(const detail::WeightPolicy& weight) {
  const DType stored = weight.variable.state()->value.dtype();
  if (!is_floating(stored) || weight.variable.state()->of_codes) return stored;
  const DType dtype = weight.policy.variable_dtype();
  return weight.variable.state()->fixed_dtype ? accumulation_dtype(dtype) : dtype;
}

std::vector<detail::WeightPolicy> detail::weight_policies(const Layer& root, const Policy& base) {
  std::vector<detail::WeightPolicy> out;
  const std::vector<detail::PolicyLevel> levels{{.policy = dtype_policy(), .path = "", .of_layer = false},
                                                {.policy = base, .path = "", .of_layer = false}};
  collect(*root.state(), "", levels, true, out);
  return out;
}

}  // namespace mezzo
