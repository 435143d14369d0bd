#include <algorithm>
#include <optional>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_recurrent_steps.hpp>
#include <mezzo/ops/ops.hpp>

// Recurrent operators, by mezzo's op for sequences. Arrays are (batch, steps, ...) inside.
namespace mezzo::detail {
namespace {

struct Recurrent {
  std::string kind;  ///< of recurrence()
  std::int64_t gates = 1, units = 0;
  std::size_t functions = 1;                  ///< activations of a direction
  std::vector<std::int64_t> order{};          ///< gates of recurrence() among those of ONNX
  std::vector<OnnxActivation> activations{};  ///< of all directions
  std::optional<double> clip{};
  bool coupled = false;
};

/// Blocks of the first axis in another order.
Value in_order(const Value& x, const Recurrent& of) {
  if (std::is_sorted(of.order.begin(), of.order.end())) return x;
  const Values blocks = split(x, of.gates, 0);
  Values out;
  for (const auto gate : of.order) out.push_back(blocks[static_cast<std::size_t>(gate)]);
  return concat(out, 0);
}

/// Part `direction` of the first axis, without it.
Value direction_of(const Value& x, std::int64_t direction) {
  const Shape shape = x.shape();
  Shape starts(shape.size(), 0), sizes(shape.size(), -1);
  starts[0] = direction;
  sizes[0] = 1;
  return squeeze(slice(x, {starts, sizes}), 0);
}

/// Bias of the inputs' product, and the one added to the recurrent product; undefined: none.
struct Biases {
  Value input, recurrent;
};

Biases biases_of(OnnxCall& call, const Recurrent& of, std::int64_t direction) {
  if (!call.has(3)) return {};
  const Values both = split(direction_of(call.in(3), direction), 2, 0);
  const Value input = in_order(both[0], of), recurrent = in_order(both[1], of);
  if (of.kind == "gru") return {input, recurrent};
  return {input + recurrent, {}};
}

/// Options of recurrence() for the cell; none if it lacks a part of it.
std::optional<RecurrenceOptions> one_op(const OnnxCell& cell) {
  const bool more = cell.clip || cell.coupled || !cell.peepholes.empty();
  const auto gate = cell.functions.front().of_recurrence();
  const auto candidate = cell.functions[cell.functions.size() > 1 ? 1 : 0].of_recurrence();
  if (more || !gate || !candidate || (cell.functions.size() == 3 && cell.functions[2].of_recurrence() != candidate)) {
    return std::nullopt;
  }
  RecurrenceOptions out{.kind = cell.kind, .activation = *candidate};
  if (cell.functions.size() > 1) out.recurrent_activation = *gate;
  out.bias = cell.bias;
  return out;
}

RecurrenceOptions with_states(RecurrenceOptions options, const Values& initial, const Value& mask) {
  options.initial_state = initial;
  options.mask = mask;
  return options;
}

struct Steps {
  Value states;  ///< (batch, steps, units)
  Values last;   ///< (batch, units): state, and carry of an LSTM
};

/// Initial state of a direction, (batch, units); zeros if it is absent.
Value initial_of(OnnxCall& call, std::size_t input, std::int64_t direction, const Value& x, std::int64_t units,
                 bool batch_first) {
  if (!call.has(input)) return zeros(Shape{x.shape()[0], units}, x.dtype());
  const Value all = batch_first ? swapaxes(call.in(input), 0, 1) : call.in(input);
  return direction_of(all, direction);
}

/// One direction over the steps.
Steps run_direction(OnnxCall& call, const Recurrent& of, const Value& x, const Value& mask, std::int64_t direction,
                    bool backward, bool batch_first) {
  const Value kernel = in_order(direction_of(call.in(1), direction), of);
  const Value recurrent = in_order(direction_of(call.in(2), direction), of);
  const Biases biases = biases_of(call, of, direction);
  Value projected = matmul(backward ? flip(x, 1) : x, kernel, {.transpose_b = true});
  if (biases.input.defined()) projected = bias_add(projected, biases.input);
  OnnxCell cell{.kind = of.kind};
  const auto first = of.activations.begin() + direction * static_cast<std::int64_t>(of.functions);
  cell.functions.assign(first, first + static_cast<std::int64_t>(of.functions));
  cell.recurrent = transpose(recurrent);
  cell.bias = biases.recurrent;
  cell.clip = of.clip;
  cell.coupled = of.coupled;
  if (call.has(7)) cell.peepholes = split(direction_of(call.in(7), direction), 3, 0);
  Values initial;
  const bool lstm = of.kind == "lstm", given = call.has(5) || (lstm && call.has(6));
  const auto options = one_op(cell);
  if (given || !options) {
    initial = {initial_of(call, 5, direction, x, of.units, batch_first)};
    if (lstm) initial.push_back(initial_of(call, 6, direction, x, of.units, batch_first));
  }
  const Value steps = mask.defined() && backward ? flip(mask, 1) : mask;
  const RecurrenceResult result = options ? recurrence(projected, cell.recurrent, with_states(*options, initial, steps))
                                          : run_onnx_steps(cell, projected, initial, steps);
  Value states = backward ? flip(result.states, 1) : result.states;
  if (mask.defined()) states = where(expand_dims(mask, -1), states, zeros_like(states));
  return {states, result.last_states};
}

Recurrent checked(OnnxCall& call, Recurrent of) {
  call.ignore("hidden_size");
  if (call.rank(0) != 3 || call.rank(1) != 3 || call.rank(2) != 3) {
    call.refuse("X, W and R must have 3 axes; got shapes {}, {} and {}", call.shape(0), call.shape(1), call.shape(2));
  }
  of.units = call.shape(2)[2];
  if (call.shape(1)[1] != of.gates * of.units || call.shape(2)[1] != of.gates * of.units) {
    call.refuse("W and R must have {} gates of {} units; got shapes {} and {}", of.gates, of.units, call.shape(1),
                call.shape(2));
  }
  const std::int64_t directions = call.shape(1)[0];
  if (of.kind == "lstm" && call.has(7) && call.shape(7) != Shape{directions, 3 * of.units}) {
    call.refuse("P must have shape ({}, {}); got shape {}", directions, 3 * of.units, call.shape(7));
  }
  const std::size_t count = of.functions * static_cast<std::size_t>(std::max<std::int64_t>(directions, 0));
  std::vector<std::string> otherwise(of.functions, "Tanh");
  if (of.functions > 1) otherwise[0] = "Sigmoid";
  if (directions > 2) call.refuse("W must be for 1 or 2 directions; got shape {}", call.shape(1));
  of.activations = onnx_activations(call, count, otherwise);
  if (call.has_attribute("clip")) of.clip = call.number("clip", 0);
  of.coupled = call.integer("input_forget", 0) != 0;
  return of;
}

void run_recurrent(OnnxCall& call, const Recurrent& unchecked) {
  const Recurrent of = checked(call, unchecked);
  const std::string direction = call.text("direction", "forward");
  const bool both = direction == "bidirectional";
  if (!both && direction != "forward" && direction != "reverse") call.refuse("unknown direction \"{}\"", direction);
  const std::int64_t directions = both ? 2 : 1;
  if (call.shape(1)[0] != directions || call.shape(2)[0] != directions) {
    call.refuse("W and R must be for {} directions; got shapes {} and {}", directions, call.shape(1), call.shape(2));
  }
  const bool batch_first = call.integer("layout", 0) != 0;
  const Value x = batch_first ? call.in(0) : swapaxes(call.in(0), 0, 1);
  Value mask;
  if (call.has(4)) {
    const Value steps = arange(std::int64_t{0}, x.shape()[1], std::int64_t{1}, DType::int64);
    mask = steps < reshape(cast(call.in(4), DType::int64), {x.shape()[0], 1});
  }
  Values states;
  std::vector<Values> last(of.kind == "lstm" ? 2 : 1);
  for (std::int64_t i = 0; i < directions; ++i) {
    const Steps steps = run_direction(call, of, x, mask, i, direction == "reverse" || i == 1, batch_first);
    states.push_back(steps.states);
    for (std::size_t j = 0; j < last.size(); ++j) last[j].push_back(steps.last.at(j));
  }
  const Value all = stack(states, 2);  // (batch, steps, directions, units)
  if (call.wants(0)) call.put(batch_first ? all : transpose(all, {1, 2, 0, 3}));
  for (std::size_t j = 0; j < last.size(); ++j) {
    if (call.wants(j + 1)) call.put(stack(last[j], batch_first ? 1 : 0), j + 1);
  }
}

void run_lstm(OnnxCall& call) { run_recurrent(call, {"lstm", 4, 0, 3, {0, 2, 3, 1}}); }

void run_gru(OnnxCall& call) {
  const bool after = call.integer("linear_before_reset", 0) != 0;
  run_recurrent(call, {after ? "gru" : "gru_reset_before", 3, 0, 2, {0, 1, 2}});
}

void run_rnn(OnnxCall& call) { run_recurrent(call, {"simple_rnn", 1, 0, 1, {0}}); }

}  // namespace

void add_onnx_recurrent(OnnxOperators& table) {
  table["LSTM"] = {.run = run_lstm, .least = 3, .most = 8, .outputs = 3};
  table["GRU"] = {.run = run_gru, .least = 3, .most = 6, .outputs = 2};
  table["RNN"] = {.run = run_rnn, .least = 3, .most = 6, .outputs = 2};
}

}  // namespace mezzo::detail
