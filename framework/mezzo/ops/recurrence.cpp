#include <mezzo/ops/recurrence.hpp>

#include <algorithm>
#include <array>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/recurrence_layout.hpp>

namespace mezzo {

using detail::RecurrenceLayout;
using Kind = RecurrenceLayout::Kind;

namespace {

constexpr std::array<const char*, 4> recurrence_kinds{"simple_rnn", "lstm", "gru", "gru_reset_before"};
constexpr std::array<const char*, 14> recurrent_activations{
    "elu",  "exponential", "hard_sigmoid", "hard_tanh", "leaky_relu", "linear",   "log_sigmoid",
    "relu", "relu6",       "selu",         "sigmoid",   "softplus",   "softsign", "tanh"};

bool fits(std::int64_t size, std::int64_t wanted) { return size == wanted || size < 0 || wanted < 0; }

/// Throws a ShapeError unless operand `place` has this shape; sizes of -1 fit all.
void require_shape(const OpCall& call, std::size_t place, const char* name, const Shape& wanted) {
  if (place == RecurrenceLayout::none) return;
  const Shape& shape = call.inputs[place].shape;
  bool good = shape.size() == wanted.size();
  for (std::size_t i = 0; good && i < shape.size(); ++i) good = fits(shape[i], wanted[i]);
  if (!good) fail<ShapeError>(call.where, "{} must have shape {}; got {}", name, wanted, shape);
}

/// Sizes of a call: batch, steps, units.
struct RecurrenceSizes {
  std::int64_t batch, steps, units;
};

RecurrenceSizes check_recurrence(const OpCall& call, const RecurrenceLayout& at) {
  if (call.inputs.size() != at.input_count) {
    fail<ValueError>(call.where, "takes {} operands with these attributes; got {}", at.input_count, call.inputs.size());
  }
  const bool gradient = at.x == RecurrenceLayout::none;
  const std::size_t first = gradient ? at.states : at.x;
  detail::require_float(call, first);
  detail::require_rank(call, first, 3, gradient ? "(batch, steps, units)" : "(batch, steps, gates * units)");
  detail::require_rank(call, at.kernel, 2, "(units, gates * units)");
  const Shape &x = call.inputs[first].shape, &kernel = call.inputs[at.kernel].shape;
  const std::int64_t batch = x[0], steps = x[1], units = kernel[0];
  require_shape(call, at.kernel, "recurrent_kernel", {units, at.gates * units});
  require_shape(call, first, gradient ? "states" : "x", {batch, steps, gradient ? units : at.gates * units});
  require_shape(call, at.state, "initial_state", {batch, units});
  require_shape(call, at.carry, "initial carry", {batch, units});
  require_shape(call, at.bias, "bias", {at.gates * units});
  require_shape(call, at.dropped, "dropped", {batch, at.gates * units});
  require_shape(call, at.mask, "mask", {batch, steps});
  if (at.mask != RecurrenceLayout::none && call.inputs[at.mask].dtype != DType::boolean) {
    fail<DTypeError>(call.where, "mask must be bool; got {}", call.inputs[at.mask].dtype);
  }
  return {batch, steps, units};
}

std::vector<Spec> infer_recurrence(const OpCall& call) {
  const RecurrenceLayout at(call.attributes, false);
  const auto [batch, steps, units] = check_recurrence(call, at);
  const DType dtype = call.inputs[at.x].dtype;
  const Spec sequence{{batch, steps, units}, dtype}, state{{batch, units}, dtype};
  std::vector<Spec> out{sequence, state};
  if (at.saved > 0) out.push_back({{batch, steps, at.saved * units}, dtype});
  if (at.kind == Kind::lstm) out.insert(out.end(), {sequence, state});
  return out;
}

std::vector<Spec> infer_recurrence_gradient(const OpCall& call) {
  const RecurrenceLayout at(call.attributes, true);
  const auto [batch, steps, units] = check_recurrence(call, at);
  require_shape(call, at.of_states, "cotangent of the states", {batch, steps, units});
  require_shape(call, at.of_last, "cotangent of the last state", {batch, units});
  require_shape(call, at.of_carry, "cotangent of the last carry", {batch, units});
  require_shape(call, at.saved_gates, "gates", {batch, steps, at.saved * units});
  require_shape(call, at.carries, "carries", {batch, steps, units});
  const DType dtype = call.inputs[at.states].dtype;
  std::vector<Spec> out{{{batch, steps, at.gates * units}, dtype}, {{batch, units}, dtype}};
  if (at.kind == Kind::lstm) out.push_back(out[1]);
  if (at.sums != RecurrenceLayout::none) out.push_back({{at.gates * units}, accumulation_dtype(dtype)});
  if (at.before != RecurrenceLayout::none) out.push_back({{batch, steps, units}, dtype});
  return out;
}

/// Part `i` of `count` of the last axis.
Value gate_of(const Value& x, std::int64_t i, std::int64_t count) {
  const Shape& shape = x.shape();
  const std::int64_t units = shape.back() / count;
  Shape starts(shape.size(), 0), sizes = shape;
  starts.back() = i * units;
  sizes.back() = units;
  return slice(x, {starts, sizes});
}

Value as_rows(const Value& x) { return reshape(x, {x.shape()[0] * x.shape()[1], x.shape()[2]}); }

std::vector<Spec> infer_recurrent_kernel_gradient(const OpCall& call) {
  detail::require_float(call, 0);
  detail::require_rank(call, 0, 3, "(batch, steps, units)");
  detail::require_rank(call, 1, 3, "(batch, steps, gates * units)");
  const Shape &states = call.inputs[0].shape, &d = call.inputs[1].shape;
  require_shape(call, 1, "d", {states[0], states[1], d[2]});
  if (call.attributes.get<bool>("initial")) require_shape(call, 2, "initial_state", {states[0], states[2]});
  const DType dtype = call.attributes.get<DType>("dtype");
  std::vector<Spec> out{{{states[2], d[2]}, dtype}};
  if (call.attributes.get<bool>("projected")) {
    const std::size_t x = call.inputs.size() - 1;
    detail::require_rank(call, x, 3, "(batch, steps, features)");
    const std::int64_t features = call.inputs[x].shape[2];
    require_shape(call, x, "x", {states[0], states[1], features});
    out.push_back({{features, d[2]}, dtype});
  }
  return out;
}

/// True if the kernel's cotangent is one product that reads the states a step earlier. In 16 bits the states are copied
/// in the backward pass, for the products of oneDNN.
bool reads_states_earlier(const RecurrenceLayout& at, DType dtype) {
  return dtype_size(dtype) > 2 && at.kind != Kind::gru_reset_before && at.dropped == RecurrenceLayout::none;
}

Value earlier_states_product(const GradientContext& context, const RecurrenceLayout& at, const Value& d) {
  Values operands{context.output(0), d};
  const bool initial = at.state != RecurrenceLayout::none;
  if (initial) operands.push_back(context.input(at.state));
  return insert_one(ops::recurrent_kernel_gradient, operands,
                    {{"initial", initial}, {"projected", false}, {"dtype", context.dtype(at.kernel)}});
}

/// Cotangent of the recurrent kernel: for each gate, the states that were multiplied times the cotangents `d` of the
/// products. `before`: the states before each step.
Value kernel_gradient(const GradientContext& context, const RecurrenceLayout& at, const Value& before, const Value& d) {
  const auto product = [&](const Value& states, const Value& of_product) {
    return insert_one(ops::matmul, {as_rows(states), as_rows(of_product)},
                      {{"transpose_a", true}, {"transpose_b", false}, {"dtype", context.dtype(at.kernel)}});
  };
  const bool resets = at.kind == Kind::gru_reset_before, drops = at.dropped != RecurrenceLayout::none;
  if (!resets && !drops) return product(before, d);
  Values parts;
  for (std::int64_t gate = 0; gate < at.gates; ++gate) {
    Value states = before;
    if (drops) {
      const Value factors = gate_of(context.input(at.dropped), gate, at.gates);
      states = states * reshape(factors, {factors.shape()[0], 1, factors.shape()[1]});
    }
    if (resets && gate == 2) states = states * gate_of(context.output(2), 1, at.saved);
    parts.push_back(product(states, gate_of(d, gate, at.gates)));
  }
  return concat(parts, 1);
}

Values recurrence_vjp(const GradientContext& context) {
  const RecurrenceLayout at(context.attributes(), false);
  const bool lstm = at.kind == Kind::lstm;
  const DType dtype = context.output_spec().dtype;
  const bool of_carry = lstm && context.cotangent(4).defined();
  const bool of_bias = at.bias != RecurrenceLayout::none && context.needs(at.bias);
  Values out(context.input_count()), operands;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (context.cotangent(i).defined()) operands.push_back(detail::as(context.cotangent(i), dtype));
  }
  if (of_carry) operands.push_back(detail::as(context.cotangent(4), dtype));
  if (operands.empty()) return out;
  for (const std::size_t place : {at.kernel, at.state, at.carry, at.dropped, at.mask}) {
    if (place != RecurrenceLayout::none) operands.push_back(context.input(place));
  }
  operands.push_back(context.output(0));
  if (at.saved > 0) operands.push_back(context.output(2));
  if (lstm) operands.push_back(context.output(3));
  const bool earlier = reads_states_earlier(at, dtype);
  const Attributes attributes = detail::with(context.attributes(), {{"of_states", context.cotangent(0).defined()},
                                                                    {"of_last", context.cotangent(1).defined()},
                                                                    {"of_carry", of_carry},
                                                                    {"biased", of_bias},
                                                                    {"before", context.needs(at.kernel) && !earlier}});
  const RecurrenceLayout gradient(attributes, true);
  const Values all = insert(ops::recurrence_gradient, operands, attributes);
  out[at.x] = all[0];
  if (at.state != RecurrenceLayout::none) out[at.state] = all[1];
  if (at.carry != RecurrenceLayout::none) out[at.carry] = all[2];
  if (of_bias) out[at.bias] = detail::as(all[gradient.sums], context.dtype(at.bias));
  if (all[0].shape()[1] == 0 || !context.needs(at.kernel)) return out;
  Value d = all[0];  // cotangent of the recurrent products
  if (at.kind == Kind::gru) {
    const Value reset = gate_of(context.output(2), 1, at.saved);
    d = concat({gate_of(d, 0, 3), gate_of(d, 1, 3), gate_of(d, 2, 3) * reset}, 2);
  }
  out[at.kernel] =
      earlier ? earlier_states_product(context, at, d) : kernel_gradient(context, at, all[gradient.before], d);
  return out;
}

/// Casts states, bias and factors to the dtype in which x enters the op.
Values insert_recurrence(const Values& inputs, const Attributes& attributes) {
  const Op& op = ops::recurrence;
  if (Trace::current() == nullptr && inputs[0].symbolic()) return insert(op, inputs, attributes);
  Values operands = inputs;
  for (std::size_t i = 2; i < operands.size(); ++i) {
    if (!operands[i].defined() || !is_floating(operands[i].dtype())) continue;
    operands[i] = detail::as(operands[i].across_border(false), detail::operand_dtype(op, inputs[0]));
  }
  return insert(op, operands, attributes);
}

}  // namespace

RecurrenceLayout::RecurrenceLayout(const Attributes& attributes, bool gradient)
    : activation(attributes.get<std::string>("activation")),
      recurrent_activation(attributes.get<std::string>("recurrent_activation")) {
  const std::string& name = attributes.get<std::string>("kind");
  const auto* const found = std::find(recurrence_kinds.begin(), recurrence_kinds.end(), name);
  if (found == recurrence_kinds.end()) fail_unknown("[recurrence]", "kind", name, recurrence_kinds);
  kind = static_cast<Kind>(found - recurrence_kinds.begin());
  const bool lstm = kind == Kind::lstm;
  gates = kind == Kind::simple_rnn ? 1 : lstm ? 4 : 3;
  saved = kind == Kind::simple_rnn ? 0 : kind == Kind::gru_reset_before ? 3 : 4;
  std::size_t next = 0;
  const auto take = [&](std::size_t& place, bool present) {
    if (present) place = next++;
  };
  const auto flag = [&](const char* of) { return attributes.get<bool>(of); };
  if (gradient) {
    take(of_states, flag("of_states"));
    take(of_last, flag("of_last"));
    take(of_carry, flag("of_carry"));
  } else {
    take(x, true);
  }
  take(kernel, true);
  take(state, flag("initial"));
  take(carry, flag("initial") && lstm);
  if (!gradient) take(bias, flag("biased"));
  take(dropped, flag("dropped"));
  take(mask, flag("masked"));
  if (gradient) {
    take(states, true);
    take(saved_gates, saved > 0);
    take(carries, lstm);
  }
  input_count = next;
  output_count = gradient ? (lstm ? 3 : 2) : lstm ? 5 : saved > 0 ? 3 : 2;
  if (gradient && flag("biased")) sums = output_count++;
  if (gradient && flag("before")) before = output_count++;
}

Op detail::define_recurrence() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::promote, Cast::keep};
  op.cast.by_first = true;
  op.infer = infer_recurrence;
  op.gradient = recurrence_vjp;
  op.reinsert = insert_recurrence;
  return op;
}

Op detail::define_recurrence_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_recurrence_gradient;
  return op;
}

Op detail::define_recurrent_kernel_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_recurrent_kernel_gradient;
  return op;
}

bool detail::is_recurrent_activation(const std::string& name) {
  return std::find(recurrent_activations.begin(), recurrent_activations.end(), name) != recurrent_activations.end();
}

RecurrenceResult recurrence(const Value& x, const Value& recurrent_kernel, const RecurrenceOptions& options) {
  const std::string where = detail::current_label("recurrence");
  for (const std::string* name : {&options.activation, &options.recurrent_activation}) {
    if (detail::is_recurrent_activation(*name)) continue;
    fail_unknown(where, "activation", *name, recurrent_activations);
  }
  Attributes attributes{{"kind", options.kind},
                        {"activation", options.activation},
                        {"recurrent_activation", options.recurrent_activation},
                        {"initial", !options.initial_state.empty()},
                        {"biased", options.bias.defined()},
                        {"dropped", options.dropped.defined()},
                        {"masked", options.mask.defined()}};
  const bool lstm = RecurrenceLayout(attributes, false).kind == Kind::lstm;
  const std::size_t states = lstm ? 2 : 1;
  if (!options.initial_state.empty() && options.initial_state.size() != states) {
    fail<ValueError>(where, "initial_state must have {} arrays for \"{}\"; got {}", states, options.kind,
                     options.initial_state.size());
  }
  Values operands{x, recurrent_kernel};
  operands.insert(operands.end(), options.initial_state.begin(), options.initial_state.end());
  for (const Value* optional : {&options.bias, &options.dropped, &options.mask}) {
    if (optional->defined()) operands.push_back(*optional);
  }
  const Values out = insert_recurrence(operands, attributes);
  return {out[0], lstm ? Values{out[1], out[4]} : Values{out[1]}};
}

}  // namespace mezzo
