// RNN with cells of a program, and activations that the op recurrence doesn't have.
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/recurrent/gru.hpp>
#include <mezzo/layers/recurrent/lstm.hpp>
#include <mezzo/layers/recurrent/rnn.hpp>
#include <mezzo/layers/recurrent/simple_rnn.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/ops/grad.hpp>

#include "recurrent_parity.hpp"
#include "support/runs.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct PlainOptions {
  std::int64_t units = 0;
  bool names_output = false;  // says that the output is a state
  std::string name{};
  Policy dtype{};
};

// LSTM in single ops.
class PlainLSTM : public RNNCell {
 public:
  explicit PlainLSTM(PlainOptions options) : RNNCell("PlainLSTM", options), options_(std::move(options)) {}
  Shape state_size() const override { return {options_.units, options_.units}; }
  std::int64_t output_size() const override { return options_.units; }
  std::optional<std::size_t> output_state() const override {
    return options_.names_output ? std::optional<std::size_t>(0) : std::nullopt;
  }
  void build(const Shape& input) override {
    add_weight(kernel_, {.shape = {input.back(), 4 * options_.units}});
    add_weight(recurrent_, {.shape = {options_.units, 4 * options_.units}});
    add_weight(bias_, {.shape = {4 * options_.units}});
  }

 protected:
  Values call_many(const Values& xs) override {
    const Values parts = split(bias_add(matmul(xs[0], kernel_) + matmul(xs[1], recurrent_), bias_), 4, -1);
    const Value carry = sigmoid(parts[1]) * xs[2] + sigmoid(parts[0]) * tanh(parts[2]);
    const Value state = sigmoid(parts[3]) * tanh(carry);
    return {state, state, carry};
  }

 private:
  PlainOptions options_;
  Variable kernel_{"kernel"}, recurrent_{"recurrent_kernel"}, bias_{"bias"};
};

// A cell made of a function, without weights.
class Function : public RNNCell {
 public:
  Function(std::int64_t units, std::function<Values(const Values&)> function)
      : RNNCell("Function"), units_(units), function_(std::move(function)) {}
  Shape state_size() const override { return {units_}; }
  std::int64_t output_size() const override { return units_; }
  void build(const Shape&) override {}

 protected:
  Values call_many(const Values& xs) override { return function_(xs); }

 private:
  std::int64_t units_;
  std::function<Values(const Values&)> function_;
};

std::size_t traced_nodes(RNN& layer, std::int64_t steps) {
  Trace trace(Trace::Mode::graph, true);
  const Value x = trace.input("x", Spec{{2, steps, 3}, DType::float32});
  gradients(sum(layer(x)), {x});
  return trace.graph().nodes.size();
}

Value as_function(const Value& x) { return tanh(x); }
Value as_gate(const Value& x) { return sigmoid(x); }

template <class L, class Options>
void check_unfused(const std::string& kind, Options first) {
  first.units = 2;
  first.return_state = true;
  first.name = "layer";
  first.activation = as_function;
  if constexpr (!std::is_same_v<Options, SimpleRNNOptions>) first.recurrent_activation = as_gate;
  const auto check = [&](const char* end, const std::function<void(Options&)>& change) {
    Options options = first;
    change(options);
    check_recurrent(kind + end, [&] { return L(options); });
  };
  check("", [](Options&) {});
  check("_sequences", [](Options& o) { o.return_sequences = true; });
  check("_backwards", [](Options& o) { o.return_sequences = o.go_backwards = true; });
  check("_masked", [](Options& o) { o.return_sequences = true; });
  check("_zero_output", [](Options& o) { o.return_sequences = o.zero_output_for_mask = true; });
  check("_without_bias", [](Options& o) { o.use_bias = false; });
  check("_one_step", [](Options& o) { o.return_sequences = true; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent_cells)

BOOST_AUTO_TEST_CASE(a_cell_of_a_program_equals_keras) {
  for (const bool names : {false, true}) {
    const auto check = [&](const std::string& name, RNNOptions options) {
      options.return_state = true;
      options.name = "layer";
      check_recurrent(name, [&] {
        options.cell = PlainLSTM({.units = 2, .names_output = names, .name = "lstm_cell"});
        return RNN(options);
      });
    };
    check("lstm", {});
    check("lstm_sequences", {.return_sequences = true});
    check("lstm_backwards", {.return_sequences = true, .go_backwards = true});
    if (names) check("lstm_masked", {.return_sequences = true});  // else steps skipped at first give 0
    check("lstm_zero_output", {.return_sequences = true, .zero_output_for_mask = true});
    check("lstm_zero_last", {.zero_output_for_mask = true});
    check("lstm_one_step", {.return_sequences = true});
    check("lstm_masked_last", {});
  }
}

BOOST_AUTO_TEST_CASE(further_activations_equal_keras) {
  check_unfused<SimpleRNN, SimpleRNNOptions>("simple_rnn", {});
  check_unfused<LSTM, LSTMOptions>("lstm", {});
  check_unfused<GRU, GRUOptions>("gru", {});
  check_unfused<GRU, GRUOptions>("gru_reset_before", {.reset_after = false});
}

BOOST_AUTO_TEST_CASE(the_graph_does_not_grow_with_the_steps) {
  RNN layer(PlainLSTM({.units = 4}), {.return_sequences = true});
  BOOST_TEST(traced_nodes(layer, 3) == traced_nodes(layer, 50));
}

BOOST_AUTO_TEST_CASE(plans_equal_eager_steps) {
  RNN layer(PlainLSTM({.units = 4}), {.return_sequences = true});
  const Tensor x = random_tensor({2, 5, 3}), mask = random_tensor({2, 5}, DType::boolean);
  layer.build({2, 5, 3});
  layer(x);
  const auto step = [&](const Values& xs) {
    const Value y = layer(xs[0], {.mask = xs[1]});
    Values by{xs[0]};
    for (const Variable& weight : layer.weights()) by.push_back(weight);
    Values out = gradients(sum(y * y), by);
    out.push_back(y);
    return out;
  };
  for (const char* name : {"float32", "mixed_bfloat16", "mixed_float16", "float64"}) {
    BOOST_TEST_CONTEXT(name) {
      const detail::PolicyScope policy{Policy(name)};
      const TensorList eager = run_in_eager_trace(step, {x, mask}, true);
      const TensorList planned = run_compiled(trace_step(step, {x, mask}, true), {x, mask}, false);
      const TensorList other = run_compiled(trace_step(step, {x, mask}, false), {x, mask}, false);
      for (std::size_t i = 0; i < eager.size(); ++i) {
        BOOST_TEST(planned[i].equal(eager[i]), i);
        BOOST_TEST(other[i].equal(eager[i]), i);  // computes the states again for the gradient
        if (i > 0 && i < 4) BOOST_TEST((eager[i].dtype() == DType::float32));  // of the master weights
      }
      BOOST_TEST(layer(x, {.mask = mask}).tensor().equal(eager.back()));
    }
  }
}

BOOST_AUTO_TEST_CASE(sequences_without_steps_or_samples) {
  RNN layer(PlainLSTM({.units = 3}), {.return_sequences = true, .return_state = true});
  const Tensor h = random_tensor({2, 3}), c = random_tensor({2, 3}, DType::float32, 5);
  const Values none = layer(Values{Tensor({2, 0, 4})}, {.initial_state = {h, c}});
  BOOST_TEST((none[0].shape() == Shape{2, 0, 3}));
  BOOST_TEST(none[1].tensor().equal(h));
  BOOST_TEST(none[2].tensor().equal(c));
  BOOST_TEST((layer(Tensor({0, 5, 4})).shape() == Shape{0, 5, 3}));
  RNN last(PlainLSTM({.units = 3}), {.name = "last"});
  check_throws<ShapeError>("[RNN \"last\"] a sequence without steps has no last output; got shape (2, 0, 4)", [&] {
    last(Tensor({2, 0, 4}));
  });
}

BOOST_AUTO_TEST_CASE(skipped_steps_repeat_the_output) {
  // The output is twice the state, a running sum.
  RNN layer(Function(1,
                     [](const Values& xs) {
                       const Value sum = xs[0] + xs[1];
                       return Values{2.0 * sum, sum};
                     }),
            {.return_sequences = true});
  const Tensor x({1, 5, 1}, std::vector<float>{1, 2, 4, 8, 16});
  Tensor mask({1, 5}, DType::boolean);
  for (const std::int64_t i : {1, 3}) mask.mutable_data<bool>()[i] = true;
  BOOST_TEST(layer(x, {.mask = mask}).tensor().to_doubles() == (std::vector<double>{0, 4, 4, 20, 20}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(second_derivatives) {
  const detail::PolicyScope policy{Policy("float64")};
  RNN layer(Function(1, [](const Values& xs) {
    const Value next = xs[1] * xs[0] + xs[0];
    return Values{next, next};
  }));
  // Of x, x: x^2 + x, with the second derivative 2.
  const auto value = [&](const Value& x) { return sum(layer(broadcast_to(reshape(x, {1, 1, 1}), {1, 2, 1}))); };
  const Tensor at({}, std::vector<double>{3});
  BOOST_TEST(grad(value)(at).item() == 7);
  BOOST_TEST(grad(grad(value))(at).item() == 2);
}

BOOST_AUTO_TEST_CASE(draws_differ_from_step_to_step) {
  RNN layer(Function(64,
                     [](const Values& xs) {
                       const Value y = dropout(xs[0], 0.5);
                       return Values{y, xs[1]};
                     }),
            {.return_sequences = true});
  Trace trace(Trace::Mode::eager, true);
  const Tensor y = layer(trace.input("x", Tensor({1, 2, 64}, std::vector<float>(128, 1)))).tensor();
  const std::vector<double> all = y.to_doubles();
  BOOST_TEST((std::vector<double>(all.begin(), all.begin() + 64) != std::vector<double>(all.begin() + 64, all.end())));
}

BOOST_AUTO_TEST_CASE(dropout_of_recurrent_layers_is_the_same_in_all_steps) {
  SimpleRNN unfused(8, {.activation = as_function, .dropout = 0.5, .return_sequences = true});
  Tensor alike({1, 3, 5});
  for (std::int64_t i = 0; i < alike.size(); ++i) alike.mutable_data<float>()[i] = static_cast<float>(i % 5);
  unfused(alike);
  const auto weights = unfused.get_weights();
  unfused.set_weights({weights[0], Tensor(weights[1].shape()), weights[2]});  // no step depends on the one before
  const std::vector<double> kept = unfused(alike).tensor().to_doubles();
  Trace trace(Trace::Mode::eager, true);
  const std::vector<double> steps = unfused(trace.input("x", alike)).tensor().to_doubles();
  BOOST_TEST((steps != kept));
  BOOST_TEST(std::vector<double>(steps.begin(), steps.begin() + 8) ==
                 std::vector<double>(steps.begin() + 8, steps.begin() + 16),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(mistakes_in_cells_are_errors) {
  const Tensor x({2, 3, 4});
  RNN short_of(Function(4, [](const Values& xs) { return Values{xs[0]}; }), {.name = "r"});
  check_throws<ValueError>("[RNN \"r\"] the cell must return the output and 1 states; got 1 values",
                           [&] { short_of(x); });
  RNN wrong(Function(3, [](const Values& xs) { return Values{xs[0], xs[0]}; }), {.name = "r"});
  check_throws<ShapeError>("[RNN \"r\"] state 0 must keep shape (2, 3); the cell returned shape (2, 4)",
                           [&] { wrong(x); });
  Variable total("total");
  total.assign(Tensor({2, 4}));
  RNN updating(Function(4, [&](const Values& xs) {
    update_variable(total.state().pointer(), xs[0]);
    return Values{xs[0], xs[1]};
  }));
  BOOST_CHECK_THROW(updating(x), ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
