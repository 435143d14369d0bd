#include <boost/test/unit_test.hpp>

#include <mezzo/graph/op_registry.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Two products with a weight each. `late` is recorded after the gradients, before the updates.
struct TwoProducts {
  VariablePointer first = make_variable("first", small_integers({3, 4}, DType::float32, 1));
  VariablePointer second = make_variable("second", small_integers({4, 2}, DType::float32, 2));

  Graph trace(const std::function<void(Trace&, const Value& x, const Values& gradients)>& late) const {
    return traced([&](Trace& step) {
      const Value x = step.input("x", Spec{{5, 3}, DType::float32});
      const Value loss = sum(matmul(matmul(x, step.read(first)), step.read(second)));
      step.output("loss", loss);
      const Values gradients = mezzo::gradients(loss, {step.read(first), step.read(second)});
      late(step, x, gradients);
      update_by_sgd(first, gradients[0]);
      update_by_sgd(second, gradients[1]);
    });
  }
};

/// The ops in the order in which they run, without those that don't matter here.
std::string order_of(const Graph& graph) {
  std::string text;
  for (const detail::Plan::Row& row : planned(graph).rows()) {
    if (row.op == "matmul") text += "m";
    if (row.op == "sgd_update") text += "u";
    if (row.op == "exp") text += "e";
    if (row.op == "sparse_categorical_crossentropy") text += "c";
  }
  return text;
}

TensorList run(const Graph& graph) {
  detail::Plan plan = planned(graph);
  plan.run({small_integers({5, 3}, DType::float32, 3)}, {});
  return {plan.output(0)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(update_schedule)

// Forward two products; backward the second weight's gradient, the cotangent that still needs the old second weight,
// the first weight's gradient.
BOOST_AUTO_TEST_CASE(an_update_follows_the_last_reader_of_the_old_value) {
  const Graph graph = TwoProducts{}.trace([](Trace&, const Value&, const Values&) {});
  BOOST_TEST(order_of(graph) == "mmmmumu");
}

BOOST_AUTO_TEST_CASE(updates_wait_for_the_gates) {
  const Graph graph = TwoProducts{}.trace([](Trace& trace, const Value&, const Values& gradients) {
    trace.gate({.ok = insert_one(find_op("all_finite"), gradients),
                .on_failure = Graph::OnFailure::error,
                .error = "not finite"});
  });
  BOOST_TEST(order_of(graph) == "mmmmmuu");
}

// The copy of the first weight is read once, in the forward pass.
BOOST_AUTO_TEST_CASE(copies_that_are_read_last_are_written_first) {
  const auto first = make_variable("first", small_integers({3, 40}, DType::float32, 1));
  const auto second = make_variable("second", small_integers({40, 2}, DType::float32, 2));
  const Graph graph = traced([&](Trace& step) {
    const detail::PolicyScope scope("mixed_bfloat16");
    const Value x = step.input("x", Spec{{5, 3}, DType::float32}).across_border();
    const Value y = matmul(matmul(x, read_variable(first)), read_variable(second));
    const Values gradients = mezzo::gradients(sum(cast(y, DType::float32)), {step.read(first), step.read(second)});
    step.gate({.ok = insert_one(find_op("all_finite"), gradients),
               .on_failure = Graph::OnFailure::error,
               .error = "not finite"});
    update_by_sgd(first, gradients[0]);
    update_by_sgd(second, gradients[1]);
  });
  std::vector<std::string> updated;
  for (const detail::Plan::Row& row : planned(graph).rows()) {
    if (row.op == "sgd_update") updated.push_back(row.outputs.substr(0, row.outputs.find(')') + 1));
  }
  BOOST_TEST(updated == (std::vector<std::string>{"float32 (40, 2)", "float32 (3, 40)"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(updates_wait_for_what_may_refuse_its_numbers) {
  const Graph graph = TwoProducts{}.trace([](Trace& trace, const Value& x, const Values& gradients) {
    const Value scores = exp(matmul(x, gradients[0]));
    const Value labels = trace.input("labels", Spec{{5}, DType::int32});
    trace.output("check", sparse_crossentropy(labels, scores, true));
  });
  BOOST_TEST(order_of(graph) == "mmmmmmecuu");
}

BOOST_AUTO_TEST_CASE(an_output_that_is_the_old_value_stays_so) {
  const TwoProducts step;
  const Tensor before = step.first->value.copy();
  const Graph graph = traced([&](Trace& trace) {
    const Value x = trace.input("x", Spec{{5, 3}, DType::float32});
    const Value weight = trace.read(step.first);
    const Values gradients = mezzo::gradients(sum(matmul(x, weight)), {weight});
    trace.output("old", weight);
    update_by_sgd(step.first, gradients[0]);
  });
  BOOST_TEST(run(graph)[0].equal(before));
  BOOST_TEST(!step.first->value.equal(before));
}

BOOST_AUTO_TEST_SUITE_END()
