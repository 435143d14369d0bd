#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/rnn_cell.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/recurrence.hpp>

namespace mezzo {
namespace {

/// Name for recurrence of an activation; "" if it takes none such.
std::string recurrent_name(const ActivationFunction& activation) {
  if (!activation.given()) return "linear";
  if (activation.name() == "exp") return "exponential";
  return is_recurrent_activation(activation.name()) ? activation.name() : "";
}

void require_activation(const std::string& where, const char* option, const ActivationFunction& activation) {
  if (!recurrent_name(activation).empty()) return;
  fail<ValueError>(where, "{} must be one of {}; got {}", option, recurrent_activation_names(),
                   activation.name().empty() ? "a function" : fmt::format("\"{}\"", activation.name()));
}

}  // namespace

Values RNNCell::run_sequence(const Value& sequence, const Values& states, const Value& mask) {
  Values xs{sequence};
  xs.insert(xs.end(), states.begin(), states.end());
  if (mask.defined()) xs.push_back(mask);
  return (*this)(xs);
}

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
  require_activation(label(), "activation", s.activation);
  require_activation(label(), "recurrent_activation", s.recurrent_activation);
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
                       .file_axes = {1, 0}});
  add_weight(recurrent_kernel_, {.shape = {s.units, width},
                                 .initializer = s.recurrent_initializer,
                                 .regularizer = s.recurrent_regularizer,
                                 .constraint = s.recurrent_constraint,
                                 .file_name = "weight_hh_l0",
                                 .file_axes = {1, 0}});
  if (!s.use_bias) return;
  add_weight(bias_, {.shape = s.kind == "gru" ? Shape{2, width} : Shape{width},
                     .initializer = s.bias_initializer,
                     .regularizer = s.bias_regularizer,
                     .constraint = s.bias_constraint});
}

/// In training, 0 or 1 / (1 - rate) for each of (batch of x, width).
Value detail::FusedCell::factors(const Value& x, double rate, std::int64_t width) const {
  const DType dtype = detail::operand_dtype(ops::recurrence, x);
  const Value whole = Tensor(ones({x.shape()[0], width}, dtype));
  detail::Draw draw = detail::next_draw();
  if (settings_.seed) draw.seed = Value(Tensor({}, std::vector<double>{static_cast<double>(*settings_.seed)}));
  return insert_one(ops::dropout, {whole, draw.seed, draw.step}, {{"rate", rate}, {"key", draw.key}});
}

/// Inputs of all steps times the kernel, with the bias.
Value detail::FusedCell::project(const Value& x, bool drops) {
  const RecurrentSettings& s = settings_;
  const Shape& shape = x.shape();
  const Value bias = !s.use_bias       ? Value()
                     : s.kind == "gru" ? reshape(slice(bias_, {{0, 0}, {1, gates() * s.units}}), {gates() * s.units})
                                       : Value(bias_);
  const auto add_bias = [&](const Value& y) { return bias.defined() ? bias_add(y, bias) : y; };
  if (!drops || s.dropout == 0) return add_bias(matmul(x, kernel_));
  const auto dropped = [&](const Value& of) { return x * reshape(of, {shape[0], 1, shape[2]}); };
  const bool for_each_gate = s.recurrent_dropout > 0 && gates() > 1;  // as Keras
  if (!for_each_gate) return add_bias(matmul(dropped(factors(x, s.dropout, shape[2])), kernel_));
  const Values all = split(factors(x, s.dropout, gates() * shape[2]), gates(), -1),
               kernels = split(kernel_, gates(), -1);
  Values parts;
  for (std::size_t gate = 0; gate < kernels.size(); ++gate) parts.push_back(matmul(dropped(all[gate]), kernels[gate]));
  return add_bias(concat(parts));
}

Values detail::FusedCell::run(const Value& sequence, const Values& states, const Value& mask) {
  const RecurrentSettings& s = settings_;
  const bool drops = training_phase() && (s.dropout > 0 || s.recurrent_dropout > 0);
  RecurrenceOptions options{.kind = s.kind,
                            .activation = recurrent_name(s.activation),
                            .recurrent_activation = recurrent_name(s.recurrent_activation),
                            .initial_state = states,
                            .mask = mask};
  const std::int64_t width = gates() * s.units;
  if (s.kind == "gru" && s.use_bias) options.bias = reshape(slice(bias_, {{1, 0}, {1, width}}), {width});
  if (drops && s.recurrent_dropout > 0) options.dropped = factors(sequence, s.recurrent_dropout, width);
  const RecurrenceResult result = recurrence(project(sequence, drops), recurrent_kernel_, options);
  Values out{result.states};
  out.insert(out.end(), result.last_states.begin(), result.last_states.end());
  return out;
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
  const bool later =
      (settings_.dropout > 0 || settings_.recurrent_dropout > 0) && Trace::current() == nullptr && xs[0].symbolic();
  Values out;
  if (later) {  // a functional graph: its call decides if it trains
    std::vector<Spec> specs{{{shape[0], sequence.shape()[1], settings_.units}, xs[0].dtype()}};
    for (std::size_t i = 0; i < needed; ++i) specs.push_back({{shape[0], settings_.units}, xs[0].dtype()});
    Values operands{sequence};
    operands.insert(operands.end(), states.begin(), states.end());
    if (mask.defined()) operands.push_back(mask);
    out = defer(
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
