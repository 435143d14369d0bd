#include <boost/test/unit_test.hpp>

#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/graph/op_registry.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(rewriting)

BOOST_AUTO_TEST_CASE(uses_count_all_readers) {
  const auto variable = make_variable("w", Tensor({2}));
  Value x, y;
  const Graph graph = traced([&](Trace& step) {
    x = step.input("x", Spec{{2}, DType::float32});
    y = x * x;
    step.output("y", y);
    update_variable(variable, y);
    step.gate({.ok = insert_one(find_op("all_finite"), {y})});
  });
  const Uses uses(graph);
  BOOST_TEST(uses.of(x) == 2);
  BOOST_TEST(uses.of(y) == 3);
  BOOST_TEST(uses.of(graph.gates[0].ok) == 1);
  BOOST_TEST(uses.of(Value(std::make_shared<detail::Node>(), 0)) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_replaced_is_replaced_everywhere) {
  const auto variable = make_variable("w", Tensor({2}));
  const Graph before = traced([&](Trace& step) {
    const Value y = relu(step.input("x", Spec{{2}, DType::float32}));
    step.output("y", y);
    step.update_group = 2;
    update_variable(variable, exp(y));
    step.gate({.ok = insert_one(find_op("all_finite"), {y}),
               .group = 2,
               .on_failure = Graph::OnFailure::error,
               .error = "text"});
  });
  const Graph after = rewrite(before, [](const detail::NodePtr&, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (node->op->name != "relu") return {};
    return to.add(make_node(find_op("abs"), node->inputs, {}, node->outputs, *node));
  });
  BOOST_TEST(count_nodes(after, "relu") == 0);
  const detail::NodePtr abs_node = find_node(after, "abs");
  BOOST_TEST(after.outputs[0].value.node() == abs_node);
  BOOST_TEST(find_node(after, "exp")->inputs[0].node() == abs_node);
  BOOST_TEST(find_node(after, "all_finite")->inputs[0].node() == abs_node);
  BOOST_TEST(after.updates[0].value.node() == find_node(after, "exp"));
  BOOST_TEST(after.updates[0].group == 2);
  BOOST_TEST(after.gates[0].group == 2);
  BOOST_TEST((after.gates[0].on_failure == Graph::OnFailure::error));
  BOOST_TEST(after.gates[0].error == "text");
  BOOST_TEST(count_nodes(before, "relu") == 1);  // the old graph stays as it was
  BOOST_TEST(find_node(before, "exp")->inputs[0].node() == find_node(before, "relu"));
}

BOOST_AUTO_TEST_CASE(what_nobody_replaces_is_kept) {
  const Graph before = traced([&](Trace& step) { step.output("y", relu(step.input("x", Spec{{2}, DType::float32}))); });
  const Graph after =
      rewrite(before, [](const detail::NodePtr&, const detail::NodePtr&, Rewriter&) { return Values(); });
  BOOST_TEST(after.nodes == before.nodes);
}

BOOST_AUTO_TEST_SUITE_END()
