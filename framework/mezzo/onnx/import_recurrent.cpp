#include <algorithm>
#include <map>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/recurrence.hpp>

// Recurrent operators, by mezzo's op for sequences. Arrays are (batch, steps, ...) inside.
namespace mezzo::detail {
namespace {

struct Recurrent {
  std::string kind;  ///< of recurrence()
  std::int64_t gates = 1, units = 0;
  std::size_t functions = 1;          ///< activations of a direction
  std::vector<std::int64_t> order{};  ///< gates of recurrence() among those of ONNX
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

/// mezzo's name of an activation.
std::string activation_of(const OnnxCall& call, std::string name) {
  static const std::map<std::string, std::string> names{{"tanh", "tanh"},         {"sigmoid", "sigmoid"},
                                                        {"relu", "relu"},         {"softplus", "softplus"},
                                                        {"softsign", "softsign"}, {"elu", "elu"}};
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = names.find(name);
  if (found == names.end()) call.refuse("activation \"{}\" isn't supported", name);
  return found->second;
}

/// Activations of a direction: of the gates, of the candidate.
struct Functions {
  std::string gate = "sigmoid", candidate = "tanh";
};

Functions functions_of(OnnxCall& call, const Recurrent& of, std::size_t direction) {
  std::vector<std::string> names = call.texts("activations");
  Functions out;
  if (names.empty()) return out;
  const std::size_t begin = direction * of.functions;
  if (names.size() < begin + of.functions) {
    call.refuse("activations must have {} names for each direction; got {}", of.functions, names.size());
  }
  const auto name = [&](std::size_t i) { return activation_of(call, names[begin + i]); };
  if (of.functions == 1) {
    out.candidate = name(0);
    return out;
  }
  out.gate = name(0);
  out.candidate = name(1);
  if (of.functions == 3 && name(2) != out.candidate) {
    call.refuse("activations of the candidate and of the state must be equal; got {} and {}", out.candidate, name(2));
  }
  return out;
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
  const Functions functions = functions_of(call, of, static_cast<std::size_t>(direction));
  const Value kernel = in_order(direction_of(call.in(1), direction), of);
  const Value recurrent = in_order(direction_of(call.in(2), direction), of);
  const Biases biases = biases_of(call, of, direction);
  Value projected = matmul(backward ? flip(x, 1) : x, kernel, {.transpose_b = true});
  if (biases.input.defined()) projected = bias_add(projected, biases.input);
  RecurrenceOptions options{.kind = of.kind, .activation = functions.candidate, .recurrent_activation = functions.gate};
  options.bias = biases.recurrent;
  const bool lstm = of.kind == "lstm";
  if (call.has(5) || (lstm && call.has(6))) {
    options.initial_state = {initial_of(call, 5, direction, x, of.units, batch_first)};
    if (lstm) options.initial_state.push_back(initial_of(call, 6, direction, x, of.units, batch_first));
  }
  if (mask.defined()) options.mask = backward ? flip(mask, 1) : mask;
  const RecurrenceResult result = recurrence(projected, transpose(recurrent), options);
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
  if (call.has_attribute("clip")) call.refuse("clip isn't supported");
  if (call.integer("input_forget", 0) != 0) call.refuse("input_forget isn't supported");
  if (call.has(7)) call.refuse("peepholes (input P) aren't supported");
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (!call.numbers_of(name).empty()) call.refuse("{} isn't supported", name);
  }
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
