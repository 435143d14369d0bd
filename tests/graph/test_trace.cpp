#include <boost/test/unit_test.hpp>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/runs.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Spec pair{{2}, DType::float32};

Tensor two(float a, float b) { return {{2}, std::vector<float>{a, b}}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(trace)

BOOST_AUTO_TEST_CASE(traces_nest) {
  BOOST_TEST(Trace::current() == nullptr);
  Trace outer(Trace::Mode::graph, true);
  BOOST_TEST(Trace::current() == &outer);
  BOOST_TEST(detail::training_phase());
  {
    Trace inner(Trace::Mode::eager);
    BOOST_TEST(Trace::current() == &inner);
    BOOST_TEST(!detail::training_phase());
  }
  BOOST_TEST(Trace::current() == &outer);
}

BOOST_AUTO_TEST_CASE(layers_around_are_forgotten_while_it_lasts) {
  const detail::Scope scope(
      {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Model", "", "float64", true}), "model"});
  {
    Trace trace(Trace::Mode::graph);
    BOOST_TEST(detail::current_path().empty());
    BOOST_TEST(detail::current_policy().name() == "float32");
  }
  BOOST_TEST(detail::current_path() == "model");
}

BOOST_AUTO_TEST_CASE(nodes_come_after_their_inputs_and_know_their_layer) {
  Trace trace(Trace::Mode::graph);
  const Value x = trace.input("x", pair);
  {
    const detail::Scope scope(
        {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Dense", "", {}, true}), "dense_1"});
    trace.output("y", exp(x) * 2);
  }
  std::vector<std::string> ops;
  for (const detail::NodePtr& node : trace.graph().nodes) ops.push_back(node->op->name);
  BOOST_TEST(ops == (std::vector<std::string>{"input", "exp", "constant", "multiply"}),
             boost::test_tools::per_element());
  const detail::NodePtr node = find_node(trace.graph(), "exp");
  BOOST_TEST(node->where == "[Dense \"dense_1\"]");
  BOOST_TEST(node->path == "dense_1");
}

BOOST_AUTO_TEST_CASE(an_eager_trace_computes_and_records) {
  Trace trace(Trace::Mode::eager);
  const Value x = trace.input("x", two(1, -2));
  const Value y = relu(x) + 1;
  BOOST_TEST(!y.symbolic());
  BOOST_TEST(y.tensor().equal(two(2, 1)));
  BOOST_TEST(count_nodes(trace.graph(), "relu") == 1);
}

BOOST_AUTO_TEST_CASE(arrays_become_constants) {
  Trace trace(Trace::Mode::graph);
  const Value y = Value(two(1, 2)) + Value(two(3, 4));
  BOOST_TEST(y.symbolic());
  BOOST_TEST(count_nodes(trace.graph(), "constant") == 2);
}

BOOST_AUTO_TEST_CASE(outputs_updates_and_gates_may_be_arrays) {
  const auto variable = make_variable("w", two(0, 0));
  Trace trace(Trace::Mode::graph);
  trace.output("y", Value(two(1, 2)));
  update_variable(variable, Value(two(3, 4)));
  trace.gate({.ok = Value(Tensor::scalar(1, DType::boolean))});
  BOOST_TEST(trace.graph().outputs[0].value.node()->op->name == "constant");
  BOOST_TEST(trace.graph().updates[0].value.node()->op->name == "constant");
  BOOST_TEST(trace.graph().gates[0].ok.node()->op->name == "constant");
}

BOOST_AUTO_TEST_CASE(a_variable_is_one_leaf) {
  const auto variable = make_variable("w", two(1, 2));
  Trace trace(Trace::Mode::graph);
  const Value first = read_variable(variable), second = read_variable(variable);
  BOOST_TEST(first.same_as(second));
  BOOST_TEST(first.crosses_border());
  BOOST_TEST(first.symbolic());
  BOOST_TEST(first.node()->variable == variable);
  variable->autocast = false;
  BOOST_TEST(!read_variable(variable).crosses_border());
}

BOOST_AUTO_TEST_CASE(what_was_read_before_the_trace_is_read_anew) {
  const auto variable = make_variable("w", two(1, 2));
  const Value outside = read_variable(variable);
  BOOST_TEST(outside.tensor().equal(two(1, 2)));
  Trace trace(Trace::Mode::graph);
  const Value sum = outside + read_variable(variable);
  BOOST_TEST(count_nodes(trace.graph(), "variable") == 1);
  BOOST_TEST(count_nodes(trace.graph(), "constant") == 0);
}

BOOST_AUTO_TEST_CASE(a_variable_without_a_value_cannot_be_read) {
  check_throws<ValueError>("[Variable \"w\"] must have a value (build its layer first); got none",
                           [] { read_variable(std::make_shared<detail::VariableState>("w")); });
}

BOOST_AUTO_TEST_CASE(a_read_after_an_update_sees_the_new_value) {
  const auto variable = make_variable("w", two(1, 2));
  Trace trace(Trace::Mode::eager);
  update_variable(variable, read_variable(variable) * 10);
  BOOST_TEST(read_variable(variable).tensor().equal(two(10, 20)));
  BOOST_TEST(variable->value.equal(two(1, 2)));  // until the step is committed
  update_variable(variable, read_variable(variable) + 1);
  BOOST_TEST(read_variable(variable).tensor().equal(two(11, 21)));
  BOOST_TEST(trace.graph().updates.size() == 1U);
  BOOST_TEST(trace.graph().updates[0].value.tensor().equal(two(11, 21)));
}

BOOST_AUTO_TEST_CASE(updates_join_the_group_of_the_hour) {
  const auto a = make_variable("a", two(1, 2)), b = make_variable("b", two(1, 2));
  Trace trace(Trace::Mode::graph);
  update_variable(a, read_variable(a) + 1);
  trace.update_group = 3;
  update_variable(b, read_variable(b) + 1);
  BOOST_TEST(trace.graph().updates[0].group == -1);
  BOOST_TEST(trace.graph().updates[1].group == 3);
  update_variable(a, read_variable(a) + 1);
  BOOST_TEST(trace.graph().updates[0].group == 3);
}

BOOST_AUTO_TEST_CASE(updates_are_cast_to_the_variables_dtype_and_checked) {
  const auto variable = make_variable("w", Tensor({2}, DType::bfloat16));
  {
    Trace trace(Trace::Mode::graph);
    update_variable(variable, trace.input("x", pair));
    BOOST_TEST((trace.graph().updates[0].value.dtype() == DType::bfloat16));
    check_throws<ShapeError>("[Variable \"w\"] update: shape must be (2,); got (3,)",
                             [&] { update_variable(variable, Tensor({3})); });
  }
  update_variable(variable, two(1, 2));  // outside of a trace it happens at once
  BOOST_TEST(variable->value.equal(two(1, 2).cast(DType::bfloat16)));
}

BOOST_AUTO_TEST_CASE(moving_statistics_move_in_training_of_trainable_layers) {
  const auto variable = make_variable("mean", two(0, 0));
  const auto updates = [&](bool training, bool trainable) {
    Trace trace(Trace::Mode::graph, training);
    const detail::Scope scope(
        {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"BatchNormalization", "", {}, trainable}), "bn"});
    update_in_training(variable, read_variable(variable) + 1);
    return trace.graph().updates.size();
  };
  BOOST_TEST(updates(true, true) == 1U);
  BOOST_TEST(updates(true, false) == 0U);
  BOOST_TEST(updates(false, true) == 0U);
  update_in_training(variable, two(1, 1));
  BOOST_TEST(variable->value.equal(two(0, 0)));
}

BOOST_AUTO_TEST_CASE(symbols_of_other_traces_are_refused) {
  Value foreign;
  {
    Trace other(Trace::Mode::graph);
    foreign = exp(other.input("x", pair));
  }
  const std::string text =
      "[exp] output of exp is a symbol of another trace or of a functional graph; call the Model that owns it";
  Trace trace(Trace::Mode::graph);
  check_throws<ValueError>(text, [&] { relu(foreign); });
  check_throws<ValueError>(text, [&] { trace.output("y", foreign); });
  check_throws<ValueError>(text, [&] { trace.gate({.ok = foreign}); });
  check_throws<ValueError>(text, [&] { trace.update(make_variable("w", two(1, 2)), foreign); });
  BOOST_TEST(trace.graph().updates.empty());
}

BOOST_AUTO_TEST_CASE(numbers_of_other_traces_are_constants) {
  Value earlier;
  {
    Trace other(Trace::Mode::eager);
    earlier = exp(other.input("x", two(0, 0)));
  }
  Trace trace(Trace::Mode::graph);
  BOOST_TEST(relu(earlier).symbolic());
  BOOST_TEST(count_nodes(trace.graph(), "constant") == 1);
}

BOOST_AUTO_TEST_CASE(runtime_scalars_are_one_leaf_each) {
  BOOST_TEST(detail::runtime_scalar(detail::RuntimeScalar::step).item() == 0);
  {
    Trace trace(Trace::Mode::graph);
    const Value step = detail::runtime_scalar(detail::RuntimeScalar::step);
    BOOST_TEST(step.same_as(detail::runtime_scalar(detail::RuntimeScalar::step)));
    BOOST_TEST(!step.same_as(detail::runtime_scalar(detail::RuntimeScalar::seed)));
    BOOST_TEST((step.dtype() == DType::float64));
    BOOST_TEST(step.shape().empty());
  }
  Trace trace(Trace::Mode::eager);
  trace.runtime_values[{detail::RuntimeScalar::step}] = 7;
  BOOST_TEST(detail::runtime_scalar(detail::RuntimeScalar::step).item() == 7);
}

BOOST_AUTO_TEST_CASE(calls_are_counted_by_path) {
  Trace trace(Trace::Mode::graph);
  BOOST_TEST(trace.count("a") == 0);
  BOOST_TEST(trace.count("a") == 1);
  BOOST_TEST(trace.count("b") == 0);
}

BOOST_AUTO_TEST_CASE(undefined_operands_are_refused) {
  Trace trace(Trace::Mode::graph);
  check_throws<ValueError>("[add] input 1 must be defined; got an undefined Value",
                           [&] { add(trace.input("x", pair), Value()); });
}

BOOST_AUTO_TEST_SUITE_END()
