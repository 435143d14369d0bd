#include <boost/test/unit_test.hpp>

#include <mezzo/optimizers/adamw.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A dense layer's step in mixed_bfloat16, whose kernel is a split master.
struct SplitStep {
  SplitStep() { kernel->split(); }

  Graph graph() {
    return traced([&](Trace& step) {
      const detail::PolicyScope scope("mixed_bfloat16");
      const Value x = step.input("x", Spec{{5, 3}, DType::float32});
      const Value loss = sum(cast(matmul(x.across_border(), read_variable(kernel)), DType::float32));
      const Value gradient = gradients(loss, {step.read(kernel)})[0];
      BOOST_TEST((gradient.dtype() == DType::float32));
      optimizer.apply(kernel, gradient, {float64_scalar(0.01), float64_scalar(1), float64_scalar(1), {}});
      step.output("new", read_variable(kernel));
      step.output("loss", loss);
    });
  }

  VariablePointer kernel = make_variable("kernel", random_tensor({3, 4}));
  AdamW optimizer{{.split_master_weights = true}};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(split_masters)

BOOST_AUTO_TEST_CASE(the_high_half_is_the_compute_copy) {
  const auto kernel = make_variable("kernel", random_tensor({3, 4}));
  kernel->split();
  const Graph graph = run_passes(traced([&](Trace& step) {
    const detail::PolicyScope scope("mixed_bfloat16");
    const Value x = step.input("x", Spec{{5, 3}, DType::float32});
    step.output("y", matmul(x.across_border(), read_variable(kernel)));
  }));
  BOOST_TEST(count_nodes(graph, "join_master") == 0);
  BOOST_TEST(find_node(graph, "matmul")->inputs[1].node()->variable == kernel);
}

BOOST_AUTO_TEST_CASE(one_kernel_updates_both_halves_in_place) {
  SplitStep step;
  Graph graph = step.graph();
  graph.outputs.erase(graph.outputs.begin());
  graph = run_passes(graph);
  BOOST_TEST(count_nodes(graph, "join_master") == 0);
  BOOST_TEST(count_nodes(graph, "split_master") == 0);
  const auto update = find_node(graph, "adam_update");
  BOOST_TEST(update->inputs[0].node()->variable == step.kernel);
  BOOST_TEST(update->inputs[4].node()->variable == step.kernel->remainder);
  const Tensor before = step.kernel->numbers();
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan(graph, arena);
  plan.run({random_tensor({5, 3})}, std::vector<double>(plan.runtime_keys().size()));
  BOOST_TEST(!step.kernel->numbers().equal(before));
  BOOST_TEST(arena->copies.size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_read_after_the_update_sees_the_new_numbers) {
  SplitStep step;
  detail::Plan plan = planned(step.graph());
  plan.run({random_tensor({5, 3})}, std::vector<double>(plan.runtime_keys().size()));
  BOOST_TEST(plan.output(0).equal(step.kernel->numbers()));
}

// Rows of a table and products with it. Rows in bfloat16 are those of the high half.
BOOST_AUTO_TEST_CASE(gathers_and_products_share_one_gradient) {
  for (const bool casts : {true, false}) {
    const auto updated = [&](const VariablePointer& table) {
      AdamW optimizer({.split_master_weights = table->remainder != nullptr});
      const Graph graph = traced([&](Trace& step) {
        const detail::PolicyScope scope("mixed_bfloat16");
        const Value x = step.input("x", Spec{{5, 3}, DType::float32});
        const Value indices(Tensor({2}, std::vector<std::int32_t>{2, 0}));
        const auto squares_of_rows = [&] {
          const Value rows = gather(read_variable(table), indices);
          BOOST_TEST((rows.dtype() == (casts ? DType::bfloat16 : DType::float32)));
          return rows * rows;
        };
        const auto as_stored = [&] {
          const auto no_casts = disable_casts();
          return squares_of_rows();
        };
        const Value squares = cast(casts ? squares_of_rows() : as_stored(), DType::float32);
        const Value product = cast(matmul(x.across_border(), read_variable(table)), DType::float32);
        const Value loss = sum(squares) + sum(product * product);
        optimizer.apply(table, gradients(loss, {step.read(table)})[0],
                        {float64_scalar(0.01), float64_scalar(1), float64_scalar(1), {}});
      });
      const Graph passed = run_passes(graph);
      BOOST_TEST(count_nodes(passed, "join_master") == (table->remainder && !casts ? 1 : 0));
      BOOST_TEST(count_nodes(passed, "gather") == 1);
      detail::Plan plan = planned(graph);
      plan.run({random_tensor({5, 3})}, std::vector<double>(plan.runtime_keys().size()));
      return table->numbers();
    };
    const auto whole = make_variable("table", random_tensor({3, 4})),
               split = make_variable("table", random_tensor({3, 4}));
    split->split();
    BOOST_TEST(updated(split).equal(updated(whole)));
    BOOST_TEST(!whole->value.equal(random_tensor({3, 4})));
  }
}

BOOST_AUTO_TEST_CASE(any_value_may_be_given_to_one) {
  const auto variable = make_variable("w", random_tensor({70}));
  const Tensor start = variable->value;
  variable->split();
  detail::Plan plan = planned(traced([&](Trace&) { update_variable(variable, read_variable(variable) * 0.3); }));
  plan.run({}, {});
  Tensor expected = start;
  for (int i = 0; i < 70; ++i) expected.mutable_data<float>()[i] *= 0.3F;
  BOOST_TEST(variable->numbers().equal(expected));
  update_variable(variable, start);
  BOOST_TEST(variable->numbers().equal(start));
}

BOOST_AUTO_TEST_SUITE_END()
