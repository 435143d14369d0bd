#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/recurrent/rnn_cell.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/nn/weight_product.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/recurrence.hpp>

namespace mezzo {
namespace {

/// Name of an activation for the op recurrence; "" if recurrence doesn't support it.
std::string recurrent_name(const ActivationFunction& activation) {
  if (!activation.given()) return "linear";
  if (activation.name() == "exp") return "exponential";
  return detail::is_recurrent_activation(activation.name()) ? activation.name() : "";
}

}  // namespace

detail::RecurrentInputs detail::recurrent_inputs(const Values& xs) {
  RecurrentInputs out{{xs.begin() + 1, xs.end()}, {}};
  if (!out.states.empty() && out.states.back().dtype() == DType::boolean) {
    out.mask = out.states.back();
    out.states.pop_back();
  }
  return out;
}

void detail::FusedCell::check_settings() const {
  const RecurrentSettings& s = settings_;
  detail::require_positive(label(), "units", s.units);
  detail::require_rate(label(), "dropout", s.dropout);
  detail::require_rate(label(), "recurrent_dropout", s.recurrent_dropout);
}

Shape detail::FusedCell::state_size() const {
  return settings_.kind == "lstm" ? Shape{settings_.units, settings_.units} : Shape{settings_.units};
}

std::int64_t detail::FusedCell::gates() const {
  return settings_.kind == "lstm" ? 4 : settings_.kind == "simple_rnn" ? 1 : 3;
}

void detail::FusedCell::build(const Shape& input) {
  detail::require_rank_at_least(label(), input, 2);
  const RecurrentSettings& s = settings_;
  const std::int64_t width = gates() * s.units;
  state()->content = detail::GateFiles{.order = gates() == 3 ? Shape{1, 0, 2} : Shape{},  // torch's GRU: r, z, n
                                       .bias_parts = {"bias_ih_l0", "bias_hh_l0"}};
  add_weight(kernel_, {.shape = {detail::known_size(label(), input), width},
                       .initializer = s.kernel_initializer,
                       .regularizer = s.kernel_regularizer,
                       .constraint = s.kernel_constraint,
                       .file_name = "weight_ih_l0",
                       .file_axes = {1, 0},
                       .quantizable = {.inputs = {0}}});
  add_weight(recurrent_kernel_, {.shape = {s.units, width},
                                 .initializer = s.recurrent_initializer,
                                 .regularizer = s.recurrent_regularizer,
                                 .constraint = s.recurrent_constraint,
                                 .file_name = "weight_hh_l0",
                                 .file_axes = {1, 0},
                                 .quantizable = {.inputs = {0}}});
  if (!s.use_bias) return;
  add_weight(bias_, {.shape = s.kind == "gru" ? Shape{2, width} : Shape{width},
                     .initializer = s.bias_initializer,
                     .regularizer = s.bias_regularizer,
                     .constraint = s.bias_constraint});
}

/// In training, 0 or 1 / (1 - rate) for each of (batch of x, width).
Value detail::FusedCell::factors(const Value& x, double rate, std::int64_t width) const {
  return dropout_factors({x.shape()[0].or_unknown(), width}, operand_dtype(ops::recurrence, x), rate, settings_.seed);
}

/// Row of the bias of "gru", which has one for the inputs and one for the state.
Value detail::FusedCell::bias_row(std::int64_t row) const {
  const std::int64_t width = gates() * settings_.units;
  return reshape(slice(bias_, {{row, 0}, {1, width}}), {width});
}

/// Inputs of all steps times the kernel, with a bias if it is defined.
Value detail::FusedCell::project(const Value& x, const Value& bias, bool drops) {
  const RecurrentSettings& s = settings_;
  const Shape& shape = x.shape();
  const auto add_bias = [&](const Value& y) { return bias.defined() ? bias_add(y, bias) : y; };
  if (!drops || s.dropout == 0) return add_bias(weight_product(x, kernel_));
  const auto dropped = [&](const Value& of) { return x * reshape(of, {shape[0], 1, shape[2]}); };
  const bool for_each_gate = s.recurrent_dropout > 0 && gates() > 1;  // as Keras
  if (!for_each_gate) return add_bias(weight_product(dropped(factors(x, s.dropout, shape[2])), kernel_));
  const Values all = split(factors(x, s.dropout, gates() * shape[2]), gates(), -1),
               kernels = split(kernel_, gates(), -1);
  Values parts;
  for (std::size_t gate = 0; gate < kernels.size(); ++gate) parts.push_back(matmul(dropped(all[gate]), kernels[gate]));
  return add_bias(concat(parts));
}

Values detail::FusedCell::run(const Value& sequence, const Values& states, const Value& mask) {
  const RecurrentSettings& s = settings_;
  if (!fused()) return run_unfused(sequence, states, mask);
  const bool drops = detail::training_phase() && (s.dropout > 0 || s.recurrent_dropout > 0);
  RecurrenceOptions options{.kind = s.kind,
                            .activation = recurrent_name(s.activation),
                            .recurrent_activation = recurrent_name(s.recurrent_activation),
                            .initial_state = states,
                            .mask = mask};
  const std::int64_t width = gates() * s.units;
  const bool of_inputs = s.kind == "gru" && s.use_bias;
  if (s.use_bias) options.bias = of_inputs ? bias_row(1) : Value(bias_);
  if (drops && s.recurrent_dropout > 0) options.dropped = factors(sequence, s.recurrent_dropout, width);
  const RecurrenceResult result =
      recurrence(project(sequence, of_inputs ? bias_row(0) : Value(), drops), recurrent_kernel_, options);
  Values out{result.states};
  out.insert(out.end(), result.last_states.begin(), result.last_states.end());
  return out;
}

/// True if recurrence supports the activations.
bool detail::FusedCell::fused() const {
  return !recurrent_name(settings_.activation).empty() && !recurrent_name(settings_.recurrent_activation).empty();
}

/// The steps as a loop, for activations that recurrence doesn't support.
Values detail::FusedCell::run_unfused(const Value& sequence, const Values& states, const Value& mask) {
  const RecurrentSettings& s = settings_;
  const bool drops = detail::training_phase() && (s.dropout > 0 || s.recurrent_dropout > 0);
  const std::int64_t width = gates() * s.units;
  const Value bias = !s.use_bias ? Value() : s.kind == "gru" ? bias_row(0) : Value(bias_);
  const Value projected = project(sequence, bias, drops);
  Value dropped;
  if (drops && s.recurrent_dropout > 0) dropped = factors(sequence, s.recurrent_dropout, width);
  Values before = states;
  for (Value& state : before) state = as(state.across_border(false), operand_dtype(ops::recurrence, sequence));
  if (before.empty()) before = get_initial_state(step_shape(sequence.shape()));
  return run_steps([&](const Value& x, const Values& given) { return step(x, given, dropped); }, projected, before,
                   mask, 0);
}

/// One step from the projected input: the output and the new states.
Values detail::FusedCell::step(const Value& x, const Values& states, const Value& dropped) {
  const RecurrentSettings& s = settings_;
  const Value& state = states[0];
  const std::int64_t count = gates();
  const Values inputs = split(x, count, -1);
  const Values masks = dropped.defined() ? split(dropped, count, -1) : Values();
  const Values kernels = split(recurrent_kernel_, count, -1);
  const auto product = [&](const Value& of, std::size_t gate) {
    return matmul(masks.empty() ? of : of * masks[gate], kernels[gate]);
  };
  const auto gate = [&](std::size_t i) { return s.recurrent_activation(inputs[i] + product(state, i)); };
  if (s.kind == "simple_rnn") {
    const Value next = s.activation(inputs[0] + product(state, 0));
    return {next, next};
  }
  if (s.kind == "lstm") {
    const Value carry = gate(1) * states[1] + gate(0) * s.activation(inputs[2] + product(state, 2));
    const Value next = gate(3) * s.activation(carry);
    return {next, next, carry};
  }
  Value update, reset, candidate;
  if (s.kind == "gru") {
    Values biases;
    if (s.use_bias) biases = split(bias_row(1), count, 0);
    const auto recurrent = [&](std::size_t i) {
      return s.use_bias ? product(state, i) + biases[i] : product(state, i);
    };
    update = s.recurrent_activation(inputs[0] + recurrent(0));
    reset = s.recurrent_activation(inputs[1] + recurrent(1));
    candidate = inputs[2] + reset * recurrent(2);
  } else {
    update = gate(0);
    reset = gate(1);
    candidate = inputs[2] + product(reset * state, 2);
  }
  const Value next = update * state + (1.0 - update) * s.activation(candidate);
  return {next, next};
}

Values detail::FusedCell::call_many(const Values& xs) {
  const bool one_step = xs[0].shape().size() == 2;
  if (!one_step) detail::require_rank(label(), xs[0].shape(), 3, "(batch, steps, features)");
  detail::require_last_axis(label(), xs[0].shape(), kernel_.shape()[0], "rows of kernel");
  const RecurrentInputs given = recurrent_inputs(xs);
  const Values& states = given.states;
  const Value& mask = given.mask;
  const std::size_t needed = state_size().size();
  if ((!states.empty() || one_step) && states.size() != needed) {
    fail<ValueError>(label(), "takes {} states; got {}", needed, states.size());
  }
  const Shape& shape = xs[0].shape();
  const Value sequence = one_step ? expand_dims(xs[0], 1) : xs[0];
  const bool later = (settings_.dropout > 0 || settings_.recurrent_dropout > 0 || !fused()) &&
                     Trace::current() == nullptr && xs[0].symbolic();
  Values out;
  if (later) {  // a functional graph: its call sets the mode
    std::vector<Spec> specs{{{shape[0], sequence.shape()[1].or_unknown(), settings_.units}, xs[0].dtype()}};
    for (std::size_t i = 0; i < needed; ++i) specs.push_back({{shape[0], settings_.units}, xs[0].dtype()});
    Values operands{sequence};
    operands.insert(operands.end(), states.begin(), states.end());
    if (mask.defined()) operands.push_back(mask);
    out = detail::defer(
        [cell = *this](const Values& operands_then) mutable {
          const RecurrentInputs then = recurrent_inputs(operands_then);
          return cell.run(operands_then[0], then.states, then.mask);
        },
        operands, specs);
  } else {
    out = run(sequence, states, mask);
  }
  if (one_step) out[0] = out[1];
  return out;
}

}  // namespace mezzo
