#include <boost/test/unit_test.hpp>

#include <mezzo/graph/op_registry.hpp>

#include "compiler/steps.hpp"
#include "support/precision.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Graph simplified(const TestedStep& step, const TensorList& arguments) { return simplify(trace_step(step, arguments)); }

int nodes_left(const std::string& op, const TestedStep& step, const TensorList& arguments) {
  return count_nodes(simplified(step, arguments), op);
}

TestedStep casts(const std::vector<DType>& dtypes) {
  return [dtypes](const Values& x) {
    Value y = x[0];
    for (const DType dtype : dtypes) y = cast(y, dtype);
    return Values{y};
  };
}

int casts_left(DType from, const std::vector<DType>& dtypes) {
  return nodes_left("cast", casts(dtypes), {Tensor({3}, from)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(simplification)

BOOST_AUTO_TEST_CASE(casts_there_and_back_vanish_if_nothing_is_lost) {
  BOOST_TEST(casts_left(DType::float32, {DType::float32}) == 0);
  BOOST_TEST(casts_left(DType::bfloat16, {DType::float32, DType::bfloat16}) == 0);
  BOOST_TEST(casts_left(DType::float16, {DType::float32, DType::float16}) == 0);
  BOOST_TEST(casts_left(DType::float32, {DType::float64, DType::float32}) == 0);
  BOOST_TEST(casts_left(DType::bfloat16, {DType::float32, DType::bfloat16, DType::float64, DType::bfloat16}) == 0);
}

BOOST_AUTO_TEST_CASE(casts_that_round_stay) {
  BOOST_TEST(casts_left(DType::float32, {DType::bfloat16, DType::float32}) == 2);
  BOOST_TEST(casts_left(DType::float32, {DType::float16, DType::float32}) == 2);
  BOOST_TEST(casts_left(DType::float64, {DType::float32, DType::float64}) == 2);
  BOOST_TEST(casts_left(DType::float16, {DType::bfloat16, DType::float16}) == 2);
  BOOST_TEST(casts_left(DType::bfloat16, {DType::float16, DType::bfloat16}) == 2);
  BOOST_TEST(casts_left(DType::int32, {DType::float32, DType::int32}) == 2);  // 2^24 + 1
  BOOST_TEST(casts_left(DType::float32, {DType::int64, DType::float32}) == 2);
}

BOOST_AUTO_TEST_CASE(chains_of_casts_keep_their_values) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<DType> chain;
    for (std::uint64_t i = 0; i < 6; ++i) chain.push_back(float_dtypes[philox(seed, i)[0] % 4]);
    const Tensor x = random_tensor({40}, chain.back(), seed, -9, 9);
    chain.pop_back();
    const Tensor expected = casts(chain)({x})[0].tensor();
    const Tensor result = run_compiled(trace_step(casts(chain), {x}), {x})[0];
    BOOST_TEST(result.equal(expected), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(reshapes_that_do_nothing_vanish) {
  const Tensor x({2, 6});
  BOOST_TEST(nodes_left("reshape", [](const Values& v) { return Values{reshape(v[0], {2, -1})}; }, {x}) == 0);
  BOOST_TEST(nodes_left("reshape",
                        [](const Values& v) {
                          return Values{reshape(reshape(v[0], {12}), {2, 6})};
                        },
                        {x}) == 0);
  BOOST_TEST(nodes_left("reshape",
                        [](const Values& v) {
                          return Values{reshape(reshape(v[0], {12}), {6, 2})};
                        },
                        {x}) == 2);
  BOOST_TEST(nodes_left("reshape", [](const Values& v) { return Values{reshape(v[0], {6, 2})}; }, {x}) == 1);
}

BOOST_AUTO_TEST_CASE(what_was_for_the_trace_only_vanishes) {
  const auto step = [](const Values& v) { return Values{exp(stop_gradient(identity(v[0])))}; };
  BOOST_TEST(simplified(step, {Tensor({2})}).nodes.size() == 2U);
}

BOOST_AUTO_TEST_CASE(equal_expressions_are_computed_once) {
  const auto step = [](const Values& v) { return Values{exp(v[0] * 2) + exp(v[0] * 2), exp(v[0] * 3)}; };
  const Tensor x = random_tensor({5});
  const Graph graph = simplified(step, {x});
  BOOST_TEST(count_nodes(graph, "exp") == 2);
  BOOST_TEST(count_nodes(graph, "multiply") == 2);
  BOOST_TEST(count_nodes(graph, "constant") == 2);
  const TensorList expected{step({x})[0].tensor(), step({x})[1].tensor()}, result = run_compiled(graph, {x});
  for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(result[i].equal(expected[i]));
}

BOOST_AUTO_TEST_CASE(expressions_of_two_outputs_of_a_node_do_not_meet) {
  const TestedStep halves = [](const Values& v) {
    const Values parts = array_split(v[0], 2);
    return Values{exp(parts[0]), exp(parts[1])};
  };
  BOOST_TEST(nodes_left("exp", halves, {Tensor({4})}) == 2);
}

BOOST_AUTO_TEST_CASE(expressions_that_differ_in_attributes_do_not_meet) {
  const auto step = [](const Values& v) {
    return Values{sum(v[0], {{0}, false}), sum(v[0], {{0}, true}), sum(v[0], {{1}, false}), sum(v[0], {{0}, false})};
  };
  BOOST_TEST(nodes_left("sum", step, {Tensor({3, 3})}) == 3);
}

BOOST_AUTO_TEST_CASE(what_nothing_needs_is_dropped_but_inputs_stay) {
  const auto variable = make_variable("w", Tensor({2}));
  const Graph graph = simplify(traced([&](Trace& step) {
    const Value x = step.input("x", Spec{{2}, DType::float32}), y = step.input("y", Spec{{2}, DType::float32});
    const Value unused = exp(y) * read_variable(variable);
    step.output("z", relu(x));
  }));
  BOOST_TEST(graph.nodes.size() == 3U);
  BOOST_TEST(count_nodes(graph, "input") == 2);
  BOOST_TEST(graph.inputs.size() == 2U);
}

BOOST_AUTO_TEST_CASE(updates_and_gates_are_needed) {
  const auto variable = make_variable("w", Tensor({2}));
  const Graph graph = simplify(traced([&](Trace& step) {
    const Value x = step.input("x", Spec{{2}, DType::float32});
    update_variable(variable, exp(x));
    step.gate({.ok = insert_one(find_op("all_finite"), {log(x)})});
  }));
  for (const char* op : {"exp", "log", "all_finite"}) BOOST_TEST(count_nodes(graph, op) == 1);
  BOOST_TEST(graph.updates.size() == 1U);
  BOOST_TEST(graph.gates.size() == 1U);
}

BOOST_AUTO_TEST_CASE(checks_are_neither_dropped_nor_merged) {
  const Graph graph = simplify(traced([](Trace& step) {
    const Value labels = step.input("y", Spec{{2}, DType::int32}),
                scores = step.input("x", Spec{{2, 3}, DType::float32});
    for (int i = 0; i < 2; ++i) sparse_crossentropy(labels, exp(scores), true);
  }));
  BOOST_TEST(count_nodes(graph, "sparse_categorical_crossentropy") == 2);
  BOOST_TEST(count_nodes(graph, "exp") == 1);
}

BOOST_AUTO_TEST_CASE(once_is_enough) {
  const DenseStep dense;
  for (const std::string& policy : policy_names) {
    const Graph once = simplify(dense.trace(policy));
    BOOST_TEST(simplify(once).nodes.size() == once.nodes.size(), policy);
  }
}

// Its check is an effect: an id out of range is an error whether or not the rows are read.
BOOST_AUTO_TEST_CASE(a_gather_that_nobody_reads_stays) {
  const auto step = [](const Values& v) {
    gather(v[0], v[1]);
    return Values{v[0] * 2.0};
  };
  const Tensor table({3, 2});
  const auto ids = [](std::int32_t id) { return Tensor({1}, std::vector<std::int32_t>{id}); };
  const Graph graph = trace_step(step, {table, ids(0)});
  BOOST_TEST(count_nodes(simplify(graph), "gather") == 1);
  run_compiled(graph, {table, ids(2)});
  BOOST_CHECK_THROW(run_compiled(graph, {table, ids(3)}), ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
