#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

#include <mezzo/ops/recurrence.hpp>

#include "ops/plain.hpp"

// Rows of recurrence and its gradient. The gradient by plain loops is that of complex steps.
namespace mezzo_tests {

// What a row tries, beside its operands.
struct RecurrenceCase {
  std::string kind;
  bool initial = false, biased = false, dropped = false, masked = false;
  std::int64_t batch = 2, steps = 3, units = 2;
  std::string activation = "tanh", gate = "sigmoid";

  std::int64_t gates() const { return kind == "lstm" ? 4 : kind == "simple_rnn" ? 1 : 3; }
  std::int64_t width() const { return gates() * units; }
  std::int64_t saved() const { return kind == "simple_rnn" ? 0 : kind == "gru_reset_before" ? 3 : 4; }
  bool lstm() const { return kind == "lstm"; }
  // Rounding a state below 1 to bfloat16 changes it by 2^-9 at most. Weights are below 1.
  double bfloat16_error() const { return static_cast<double>(units) * 0x1p-9; }
  mezzo::Attributes attributes() const {
    return {{"kind", kind},       {"activation", activation}, {"recurrent_activation", gate},
            {"initial", initial}, {"biased", biased},         {"dropped", dropped},
            {"masked", masked}};
  }
};

using Complex = std::complex<double>;

inline Complex plain_activation(const std::string& name, Complex x) {
  if (name == "tanh") return std::tanh(x);
  if (name == "sigmoid") return 1.0 / (1.0 + std::exp(-x));
  if (name == "softsign") return x / (1.0 + (x.real() < 0 ? -x : x));
  return x;
}

// Arrays of complex numbers, to differentiate by a step in the imaginary direction, without rounding errors.
struct ComplexArray {
  mezzo::Shape shape;
  std::vector<Complex> numbers;

  explicit ComplexArray(const mezzo::Shape& of = {})
      : shape(of), numbers(static_cast<std::size_t>(mezzo::element_count(of))) {}
  explicit ComplexArray(const mezzo::Tensor& x) : ComplexArray(x.shape()) {
    const std::vector<double> real = x.to_doubles();
    std::copy(real.begin(), real.end(), numbers.begin());
  }
  Complex* data() { return numbers.data(); }
  const Complex& at(const mezzo::Shape& index) const {
    std::int64_t flat = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) flat = flat * shape[axis] + index[axis];
    return numbers[static_cast<std::size_t>(flat)];
  }
  mezzo::Tensor real() const {
    std::vector<double> parts;
    for (const Complex& z : numbers) parts.push_back(z.real());
    return {shape, parts};
  }
};

// Operands in the order of the op; the mask is bool.
inline std::vector<Argument> recurrence_arguments(const RecurrenceCase& c) {
  std::vector<Argument> out{{uniform({c.batch, c.steps, c.width()}, -1, 1, 1)},
                            {uniform({c.units, c.width()}, -1, 1, 2)}};
  for (int i = 0; c.initial && i < (c.lstm() ? 2 : 1); ++i) {
    out.push_back({uniform({c.batch, c.units}, -1, 1, 3 + static_cast<std::uint64_t>(i))});
  }
  if (c.biased) out.push_back({uniform({c.width()}, -1, 1, 5)});
  if (c.dropped)
    out.push_back({map(uniform({c.batch, c.width()}, -1, 1, 6), [](double x) { return x > 0 ? 2.0 : 0.0; })});
  if (c.masked) {
    mezzo::Tensor mask({c.batch, c.steps}, mezzo::DType::boolean);
    for (std::int64_t i = 0; i < mask.size(); ++i) mask.mutable_data<bool>()[i] = i % 3 != 1;
    out.push_back({mask, mezzo::DType::boolean});
  }
  return out;
}

// All outputs, step by step.
inline std::vector<ComplexArray> complex_recurrence(const RecurrenceCase& c, const std::vector<ComplexArray>& x) {
  std::size_t next = 2;
  const ComplexArray zero({c.batch, c.units});
  ComplexArray h = c.initial ? x[next++] : zero;
  ComplexArray carry = c.initial && c.lstm() ? x[next++] : zero;
  const ComplexArray bias = c.biased ? x[next++] : ComplexArray({c.width()});
  const ComplexArray factors = c.dropped ? x[next++] : ComplexArray();
  const ComplexArray mask = c.masked ? x[next] : ComplexArray();
  ComplexArray states({c.batch, c.steps, c.units}), carries = states, gates({c.batch, c.steps, c.saved() * c.units});
  const std::int64_t n = c.units;
  for (std::int64_t b = 0; b < c.batch; ++b) {
    Complex *at = h.data() + b * n, *cell = carry.data() + b * n;
    for (std::int64_t t = 0; t < c.steps; ++t) {
      const std::vector<Complex> old(at, at + n);
      const auto product = [&](std::int64_t gate, std::int64_t j, const std::vector<Complex>& of) {
        Complex sum = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          const Complex factor = c.dropped ? factors.at({b, gate * n + i}) : Complex(1);
          sum += of[static_cast<std::size_t>(i)] * factor * x[1].at({i, gate * n + j});
        }
        return sum + bias.at({gate * n + j});
      };
      const auto input = [&](std::int64_t gate, std::int64_t j) { return x[0].at({b, t, gate * n + j}); };
      const auto gate_of = [&](std::int64_t gate, std::int64_t j) {
        return plain_activation(c.gate, input(gate, j) + product(gate, j, old));
      };
      const auto save = [&](std::int64_t j, const std::vector<Complex>& numbers) {
        Complex* to = gates.data() + (b * c.steps + t) * c.saved() * n + j;
        for (const Complex number : numbers) {
          *to = number;
          to += n;
        }
      };
      std::vector<Complex> reset = old;
      if (c.kind == "gru_reset_before") {
        for (std::int64_t j = 0; j < n; ++j) reset[static_cast<std::size_t>(j)] *= gate_of(1, j);
      }
      const bool runs = !c.masked || mask.at({b, t}) != 0.0;
      for (std::int64_t j = 0; runs && j < n; ++j) {
        if (c.kind == "simple_rnn") {
          at[j] = plain_activation(c.activation, input(0, j) + product(0, j, old));
        } else if (c.lstm()) {
          const Complex i = gate_of(0, j), f = gate_of(1, j), o = gate_of(3, j);
          const Complex g = plain_activation(c.activation, input(2, j) + product(2, j, old));
          cell[j] = f * cell[j] + i * g;
          at[j] = o * plain_activation(c.activation, cell[j]);
          save(j, {i, f, g, o});
        } else {
          const Complex z = gate_of(0, j), r = gate_of(1, j), inner = product(2, j, reset);
          const bool after = c.kind == "gru";
          const Complex candidate = plain_activation(c.activation, input(2, j) + (after ? r * inner : inner));
          at[j] = z * old[static_cast<std::size_t>(j)] + (1.0 - z) * candidate;
          save(j, after ? std::vector<Complex>{z, r, candidate, inner} : std::vector<Complex>{z, r, candidate});
        }
      }
      std::copy_n(at, n, states.data() + (b * c.steps + t) * n);
      std::copy_n(cell, n, carries.data() + (b * c.steps + t) * n);
    }
  }
  std::vector<ComplexArray> out{states, h};
  if (c.saved() > 0) out.push_back(gates);
  if (c.lstm()) out.insert(out.end(), {carries, carry});
  return out;
}

inline std::vector<ComplexArray> complex_arrays(const TensorList& x) {
  std::vector<ComplexArray> out;
  for (const mezzo::Tensor& one : x) out.emplace_back(one);
  return out;
}

inline TensorList plain_recurrence(const RecurrenceCase& c, const TensorList& x) {
  TensorList out;
  for (const ComplexArray& y : complex_recurrence(c, complex_arrays(x))) out.push_back(y.real());
  return out;
}

inline OpRow recurrence_row(const RecurrenceCase& c) {
  OpRow row{.op = "recurrence",
            .note = c.attributes().to_string(),
            .call = inserted("recurrence", c.attributes()),
            .arguments = recurrence_arguments(c),
            .outputs = std::vector<Role>(c.lstm()        ? 5
                                         : c.saved() > 0 ? 3
                                                         : 2,
                                         Role::varied()),
            .plain = [c](const TensorList& x) { return plain_recurrence(c, x); },
            .differentiable = {0, 1},
            .depth = static_cast<double>(4 * c.steps * c.units),
            .bfloat16_error = c.bfloat16_error(),
            .internal = true};
  for (std::size_t i = 2; i < 2 + (c.initial ? (c.lstm() ? 2U : 1U) : 0U) + (c.biased ? 1U : 0U); ++i) {
    row.differentiable.push_back(i);
  }
  return row;
}

// By its function, which returns states and last states.
inline OpRow recurrence_function_row(const RecurrenceCase& c) {
  OpRow row = recurrence_row(c);
  const std::vector<std::size_t> shown = c.lstm() ? std::vector<std::size_t>{0, 1, 4} : std::vector<std::size_t>{0, 1};
  row.note += ", by its function";
  row.call = [c](const mezzo::Values& x) {
    mezzo::RecurrenceOptions options{.kind = c.kind, .activation = c.activation, .recurrent_activation = c.gate};
    std::size_t next = 2;
    for (int i = 0; c.initial && i < (c.lstm() ? 2 : 1); ++i) options.initial_state.push_back(x[next++]);
    if (c.biased) options.bias = x[next++];
    if (c.dropped) options.dropped = x[next++];
    if (c.masked) options.mask = x[next];
    const mezzo::RecurrenceResult result = mezzo::recurrence(x[0], x[1], options);
    mezzo::Values out{result.states};
    out.insert(out.end(), result.last_states.begin(), result.last_states.end());
    return out;
  };
  row.outputs.assign(shown.size(), Role::varied());
  row.plain = [c, shown](const TensorList& x) {
    const TensorList all = plain_recurrence(c, x);
    TensorList out;
    for (const std::size_t i : shown) out.push_back(all[i]);
    return out;
  };
  row.internal = false;
  return row;
}

// The states before each step.
inline mezzo::Tensor states_before(const RecurrenceCase& c, const mezzo::Tensor& initial, const mezzo::Tensor& states) {
  mezzo::Tensor out(states.shape(), mezzo::DType::float64);
  for (std::int64_t i = 0; i < out.size(); ++i) {
    const std::int64_t step = i / c.units, j = i % c.units;
    out.mutable_data<double>()[i] =
        step % c.steps == 0 ? initial.data<double>()[step / c.steps * c.units + j] : states.data<double>()[i - c.units];
  }
  return out;
}

// The gradients of sum(cotangents * outputs) for x, the initial states and the bias, by complex steps.
inline OpRow recurrence_gradient_row(RecurrenceCase c) {
  c.initial = true;
  const std::vector<Argument> forward = recurrence_arguments(c);
  const std::size_t bias = c.lstm() ? 4 : 3;  // its place, if there is one
  const TensorList operands = [&] {
    TensorList all;
    for (const Argument& argument : forward) all.push_back(argument.numbers);
    return all;
  }();
  const TensorList results = plain_recurrence(c, operands);
  std::vector<Argument> arguments{{uniform(results[0].shape(), -1, 1, 11)}, {uniform(results[1].shape(), -1, 1, 12)}};
  if (c.lstm()) arguments.push_back({uniform(results[1].shape(), -1, 1, 13)});
  const std::size_t cotangents = arguments.size();
  for (std::size_t i = 1; i < forward.size(); ++i) {
    if (!c.biased || i != bias) arguments.push_back(forward[i]);
  }
  arguments.push_back({results[0]});
  if (c.saved() > 0) arguments.push_back({results[2]});
  if (c.lstm()) arguments.push_back({results[3]});
  mezzo::Attributes attributes = c.attributes();
  attributes.set("of_states", true);
  attributes.set("of_last", true);
  attributes.set("of_carry", c.lstm());
  attributes.set("before", c.biased);
  std::vector<std::size_t> places{0, 2};
  if (c.lstm()) places.push_back(3);
  if (c.biased) places.push_back(bias);
  const auto plain = [c, operands, cotangents, places](const TensorList& v) {
    // Derivative of the sum of cotangents * outputs, times the step.
    const auto slope = [&](const std::vector<ComplexArray>& x) {
      const std::vector<ComplexArray> y = complex_recurrence(c, x);
      double sum = 0;
      for (std::size_t k = 0; k < cotangents; ++k) {
        const ComplexArray& out = k < 2 ? y[k] : y[4];
        for (std::size_t i = 0; i < out.numbers.size(); ++i) sum += out.numbers[i].imag() * v[k].data<double>()[i];
      }
      return sum;
    };
    TensorList out;
    for (const std::size_t place : places) {
      mezzo::Tensor gradient(operands[place].shape(), mezzo::DType::float64);
      for (std::int64_t i = 0; i < gradient.size(); ++i) {
        constexpr double step = 1e-30;
        std::vector<ComplexArray> moved = complex_arrays(operands);
        moved[place].numbers[static_cast<std::size_t>(i)] += Complex(0, step);
        gradient.mutable_data<double>()[i] = slope(moved) / step;
      }
      out.push_back(gradient);
    }
    if (c.biased) out.push_back(states_before(c, operands[2], plain_recurrence(c, operands)[0]));
    return out;
  };
  std::vector<Role> outputs(places.size(), Role::varied());
  if (c.biased) {
    outputs.back() = Role::accumulated();
    outputs.push_back(Role::varied());
  }
  return {.op = "recurrence_gradient",
          .note = attributes.to_string(),
          .call = inserted("recurrence_gradient", attributes),
          .arguments = arguments,
          .outputs = outputs,
          .plain = plain,
          .depth = static_cast<double>(4 * c.steps * c.units),
          .bfloat16_error = c.bfloat16_error(),
          .accumulated_error = c.bfloat16_error(),
          .internal = true};
}

inline std::vector<OpRow> recurrence_rows() {
  std::vector<OpRow> rows;
  for (const char* kind : {"simple_rnn", "lstm", "gru", "gru_reset_before"}) {
    const RecurrenceCase cases[] = {{.kind = kind},
                                    {.kind = kind, .initial = true, .biased = true, .masked = true},
                                    {.kind = kind, .initial = true, .biased = true, .dropped = true},
                                    {.kind = kind, .steps = 1, .activation = "softsign", .gate = "linear"},
                                    {.kind = kind, .initial = true, .batch = 0}};
    for (const RecurrenceCase& c : cases) {
      rows.push_back(recurrence_row(c));
      rows.push_back(recurrence_function_row(c));
      rows.push_back(recurrence_gradient_row(c));
    }
  }
  return rows;
}

inline std::vector<Refusal> recurrence_refusals() {
  using mezzo::Tensor;
  const Tensor x({2, 3, 8}), kernel({2, 8});
  mezzo::Attributes gradient = RecurrenceCase{.kind = "simple_rnn"}.attributes();
  for (const char* flag : {"of_states", "of_last", "of_carry", "before"})
    gradient.set(flag, flag == std::string("of_last"));
  return {refusal<mezzo::ShapeError>("recurrence", "[recurrence] x must have shape (2, 3, 8); got (2, 3, 4)",
                                     [=] {
                                       mezzo::recurrence(Tensor({2, 3, 4}), kernel);
                                     }),
          refusal<mezzo::NameError>("recurrence",
                                    "[recurrence] unknown kind \"rnn\"; valid names: simple_rnn, lstm, gru, "
                                    "gru_reset_before; nearest: \"simple_rnn\"",
                                    [=] { mezzo::recurrence(x, kernel, {.kind = "rnn"}); }),
          refusal<mezzo::ShapeError>("recurrence", "[recurrence] bias must have shape (8,); got (4,)",
                                     [=] { mezzo::recurrence(x, kernel, {.bias = Tensor({4})}); }),
          refusal<mezzo::ShapeError>(
              "recurrence_gradient",
              "[recurrence_gradient] cotangent of the last state must have shape (2, 2); got "
              "(2, 3)",
              [=] {
                inserted("recurrence_gradient", gradient)({Tensor({2, 3}), Tensor({2, 2}), Tensor({2, 3, 2})});
              })};
}

}  // namespace mezzo_tests
