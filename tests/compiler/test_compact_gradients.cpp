#include <boost/test/unit_test.hpp>

#include <mezzo/graph/op_registry.hpp>

#include "compiler/steps.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Shape table_shape{2000, 12};
const Spec tokens_spec{{3, 4}, DType::int32};

Tensor tokens(std::uint64_t seed) { return random_tensor({3, 4}, DType::int32, seed, 0, 49); }

// A table, a projection of its rows, and an optimizer's slots.
struct EmbeddingStep {
  std::string optimizer = "adam";
  std::string policy = "float32";
  bool by_norm = false;  // clips by the norm of all gradients
  VariablePointer table, projection, m, v;

  explicit EmbeddingStep(const std::string& kind = "adam", const std::string& name = "float32", bool clips = false)
      : optimizer(kind), policy(name), by_norm(clips) {
    const DType dtype = Policy(policy).variable_dtype(), slots = accumulation_dtype(dtype);
    table = make_variable("table", random_tensor(table_shape, dtype, 1));
    projection = make_variable("projection", random_tensor({12, 5}, dtype, 2));
    m = make_variable("m", Tensor(table_shape, slots));
    v = make_variable("v", Tensor(table_shape, slots));
  }

  Value loss(const Value& x) const {
    const Value rows = gather(read_variable(table), x);
    const Value y = matmul(rows, read_variable(projection)) * 0.125;
    return sum(cast(y * y, Policy(policy).compute_dtype() == DType::float64 ? DType::float64 : DType::float32));
  }

  void update(const Value& gradient, const Value& multiplier) const {
    if (optimizer == "sgd") {
      update_by_sgd(table, gradient, m);
      return;
    }
    const Values out =
        insert(find_op("adam_update"),
               {read_variable(table), gradient, read_variable(m), read_variable(v), Value(float64_scalar(0.01)),
                detail::runtime_scalar(detail::RuntimeScalar::count), multiplier},
               {{"beta_1", 0.9}, {"beta_2", 0.99}, {"epsilon", 1e-7}, {"weight_decay", 0.1}, {"clipvalue", 0.5}});
    update_variable(table, out[0]);
    update_variable(m, out[1]);
    update_variable(v, out[2]);
  }

  Graph trace(const std::function<void(Trace&, const Value&)>& more = {}) const {
    return traced([&](Trace& step) {
      const detail::PolicyScope scope((Policy(policy)));
      const Value total = loss(step.input("x", tokens_spec));
      const Values gradient = gradients(total, {step.read(table), step.read(projection)});
      const Values norm = insert(find_op("gradient_multiplier"), {Value(float64_scalar(4)), gradient[0]},
                                 {{"clipnorm", by_norm ? 0.1 : 0.0}});
      step.gate({.ok = norm[1], .on_failure = Graph::OnFailure::error, .error = "a gradient is not finite"});
      step.gate({.ok = insert_one(find_op("all_finite"), gradient),
                 .on_failure = Graph::OnFailure::error,
                 .error = "one of them is not finite"});
      update(gradient[0], norm[0]);
      update_by_sgd(projection, gradient[1]);
      if (more) more(step, gradient[0]);
    });
  }

  TensorList values() const { return {table->value, projection->value, m->value, v->value}; }
};

// The variables after several steps.
TensorList trained(const EmbeddingStep& step, bool compact) {
  const Graph graph = step.trace();
  detail::Plan plan(compact ? run_passes(graph) : simplify(graph), std::make_shared<Arena>());
  for (std::uint64_t i = 1; i <= 5; ++i) {
    std::vector<double> runtime;
    if (step.optimizer == "adam") runtime.push_back(static_cast<double>(i));
    plan.run({tokens(i)}, runtime);
  }
  return step.values();
}

std::string counts(const Graph& graph) {
  return std::to_string(count_nodes(graph, "gather_gradient")) + " " +
         std::to_string(count_nodes(graph, "gather_gradient_rows"));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compact_gradients)

BOOST_AUTO_TEST_CASE(give_the_same_bits) {
  for (const char* optimizer : {"sgd", "adam"}) {
    for (const char* policy : {"float32", "float64", "mixed_bfloat16", "mixed_float16", "bfloat16", "float16"}) {
      const EmbeddingStep dense(optimizer, policy), compact(optimizer, policy);
      const Tensor before = dense.table->value.copy();
      const TensorList expected = trained(dense, false), got = trained(compact, true);
      BOOST_TEST_CONTEXT(optimizer << " " << policy) {
        BOOST_TEST(!expected[0].equal(before));
        for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(got[i].equal(expected[i]), "variable " << i);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(leave_no_gradient_of_the_tables_size_behind) {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    const EmbeddingStep step("adam", policy);
    const Graph graph = run_passes(step.trace());
    BOOST_TEST(counts(simplify(step.trace())) == "1 0");
    BOOST_TEST(counts(graph) == "0 1");
    for (const detail::NodePtr& node : graph.nodes) {
      if (node->op->infer == nullptr || !node->op->in_place.empty()) continue;
      for (const Spec& output : node->outputs) BOOST_TEST((output.shape != table_shape), node->op->name);
    }
    const detail::Plan plan(graph, std::make_shared<Arena>());
    BOOST_TEST(plan.arena_bytes() < static_cast<std::size_t>(element_count(table_shape)) * sizeof(float));
  }
}

BOOST_AUTO_TEST_CASE(are_clipped_by_their_norm_but_for_the_order_of_its_sum) {
  const EmbeddingStep dense("adam", "float32", true), compact("adam", "float32", true);
  BOOST_TEST(counts(run_passes(compact.trace())) == "0 1");
  const TensorList expected = trained(dense, false), got = trained(compact, true);
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(largest_difference(got[i], expected[i]) <= 1e-6);
}

BOOST_AUTO_TEST_CASE(stay_dense_where_somebody_else_reads_them) {
  const EmbeddingStep step;
  const auto output = [](Trace& trace, const Value& gradient) { trace.output("gradient", gradient); };
  BOOST_TEST(counts(run_passes(step.trace(output))) == "1 0");
  const auto computed = [](Trace& trace, const Value& gradient) { trace.output("norm", sum(abs(gradient))); };
  BOOST_TEST(counts(run_passes(step.trace(computed))) == "1 0");
}

// The loss of a language model whose logits read its table once more.
Graph tied(const EmbeddingStep& step, const Spec& ids = tokens_spec) {
  return traced([&](Trace& trace) {
    const detail::PolicyScope scope((Policy(step.policy)));
    const Value rows = gather(read_variable(step.table), trace.input("x", ids));
    const Value loss = sum(cast(matmul(rows, read_variable(step.table), {.transpose_b = true}), DType::float32));
    step.update(gradients(loss, {trace.read(step.table)})[0], Value(float64_scalar(1)));
  });
}

BOOST_AUTO_TEST_CASE(are_added_to_the_gradient_of_another_use_in_place) {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    const EmbeddingStep dense("adam", policy), compact("adam", policy);
    const Graph graph = run_passes(tied(compact));
    BOOST_TEST(counts(graph) == "0 0");
    BOOST_TEST(count_nodes(graph, "add_gather_gradient") == 1);
    detail::Plan expected(simplify(tied(dense)), std::make_shared<Arena>()), got(graph, std::make_shared<Arena>());
    for (std::uint64_t i = 1; i <= 3; ++i) {
      for (detail::Plan* plan : {&expected, &got}) plan->run({tokens(i)}, {static_cast<double>(i)});
    }
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(compact.values()[i].equal(dense.values()[i]), "variable " << i);
  }
}

BOOST_AUTO_TEST_CASE(two_gradients_of_a_table_are_one_array) {
  const std::size_t bytes = static_cast<std::size_t>(element_count(table_shape)) * sizeof(float);
  const Graph graph = tied(EmbeddingStep(), Spec{{1, 2}, DType::int32});
  BOOST_TEST(detail::Plan(simplify(graph), std::make_shared<Arena>()).arena_bytes() > 2 * bytes);
  BOOST_TEST(detail::Plan(run_passes(graph), std::make_shared<Arena>()).arena_bytes() < 2 * bytes);
}

// In half precision the add rounds once more.
BOOST_AUTO_TEST_CASE(stay_dense_in_half_precision) {
  BOOST_TEST(counts(run_passes(tied(EmbeddingStep("adam", "bfloat16")))) == "1 0");
}

BOOST_AUTO_TEST_CASE(stay_dense_where_as_many_rows_are_named_as_there_are) {
  const EmbeddingStep step;
  const Graph graph = traced([&](Trace& trace) {
    const Value loss = step.loss(trace.input("x", Spec{{50, 40}, DType::int32}));
    step.update(gradients(loss, {trace.read(step.table)})[0], Value(float64_scalar(1)));
  });
  BOOST_TEST(counts(run_passes(graph)) == "1 0");
}

BOOST_AUTO_TEST_CASE(an_index_out_of_range_changes_nothing) {
  const EmbeddingStep step;
  detail::Plan plan(run_passes(step.trace()), std::make_shared<Arena>());
  const TensorList before = [&] {
    TensorList copies;
    for (const Tensor& value : step.values()) copies.push_back(value.copy());
    return copies;
  }();
  Tensor bad = tokens(1);
  bad.mutable_data<std::int32_t>()[7] = 2000;
  check_throws<ValueError>("[gather] indices must be in [0, 2000); got 2000 at index 7",
                           [&] { plan.run({bad}, {1.0}); });
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(step.values()[i].equal(before[i]));
}

BOOST_AUTO_TEST_SUITE_END()
