#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/ops/elementwise_program.hpp>

#include "compiler/steps.hpp"
#include "support/precision.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// The ops of the chains of a compiled graph, in order.
std::vector<std::string> chains_of(const Graph& graph) {
  std::vector<std::string> out;
  for (const detail::NodePtr& node : run_passes(graph).nodes) {
    if (!is(*node, find_op("elementwise_chain"))) continue;
    const auto& function = node->attributes.get<std::shared_ptr<const detail::AttributeFunction>>("program");
    out.push_back(dynamic_cast<const ElementwiseProgram&>(*function).text());
  }
  return out;
}

using Texts = std::vector<std::string>;

// Compares the step's results in a plan with chains, in one without, and eagerly: bit for bit.
void check_bits(const TestedStep& step, const TensorList& arguments) {
  const Graph graph = trace_step(step, arguments);
  const TensorList eager = run_in_eager_trace(step, arguments);
  const TensorList fused = run_compiled(graph, arguments, true), plain = run_compiled(graph, arguments, false);
  for (std::size_t i = 0; i < eager.size(); ++i) {
    BOOST_TEST(plain[i].equal(eager[i]), "unfused, result " << i);
    BOOST_TEST(fused[i].equal(eager[i]), "fused, result " << i);
  }
}

TensorList random_arguments(const std::vector<Shape>& shapes, DType dtype) {
  TensorList out;
  for (const Shape& shape : shapes) out.push_back(random_tensor(shape, dtype, 1 + out.size(), -3, 3));
  return out;
}

// The step, and the gradients of the sum of its first output for all arguments.
TestedStep with_gradients_of(const TestedStep& step) {
  return [step](const Values& x) {
    Values out = step(x);
    const Values gradients = mezzo::gradients(sum(out[0]), x);
    out.insert(out.end(), gradients.begin(), gradients.end());
    return out;
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elementwise_chains)

BOOST_AUTO_TEST_CASE(ops_of_one_shape_become_one_node) {
  const TestedStep step = [](const Values& x) { return Values{exp(x[0] * x[1] + 1.0) - x[2]}; };
  const TensorList arguments = random_arguments({{4, 5}, {5}, {4, 1}}, DType::float32);
  const Graph graph = trace_step(step, arguments);
  BOOST_TEST(chains_of(graph) == (Texts{"multiply + add + exp + subtract"}), boost::test_tools::per_element());
  BOOST_TEST(count_nodes(run_passes(graph), "exp") == 0);
  check_bits(step, arguments);
}

// Results of more than 16 MiB, which are written past the caches: whole cache lines or not, and in place.
BOOST_AUTO_TEST_CASE(large_results) {
  const TestedStep step = [](const Values& x) {
    const Value gate = sigmoid(x[0]);
    return Values{gate * x[0], gate, (x[0] * 2.0 + 1.0) * x[0]};
  };
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const std::int64_t columns = dtype == DType::float32 ? 1000 : 2000;
    for (const std::int64_t rest : {0, 1}) check_bits(step, random_arguments({{4300, columns + rest}}, dtype));
  }
}

BOOST_AUTO_TEST_CASE(single_ops_and_other_shapes_stay) {
  const TensorList arguments = random_arguments({{5}, {3, 5}}, DType::float32);
  const TestedStep rows = [](const Values& x) { return Values{exp(x[0]) * x[1]}; };  // (5,), then (3, 5)
  BOOST_TEST(chains_of(trace_step(rows, arguments)).empty());
  check_bits(rows, arguments);
}

// Readers outside come after the chain: a node after them starts a new one.
BOOST_AUTO_TEST_CASE(results_with_other_readers_are_outputs) {
  const TestedStep step = [](const Values& x) {
    const Value a = x[0] * 2, b = exp(a);
    const Value total = sum(b, {.axes = {1}, .keepdims = true});
    const Value c = b / total;
    return Values{c * a, total};
  };
  const TensorList arguments = random_arguments({{6, 7}}, DType::float32);
  BOOST_TEST(chains_of(trace_step(step, arguments)) == (Texts{"multiply + exp", "divide + multiply"}),
             boost::test_tools::per_element());
  check_bits(with_gradients_of(step), arguments);
}

BOOST_AUTO_TEST_CASE(masks_take_part) {
  const TestedStep step = [](const Values& x) {
    const Value mask = logical_and(x[0] > 0, logical_not(isnan(x[0])));
    return Values{where(mask, x[0] * x[1], x[1]), mask, cast(mask, x[0].dtype()) + x[0]};
  };
  for (const DType dtype : float_dtypes) {
    const TensorList arguments = random_arguments({{3, 301}, {301}}, dtype);
    if (dtype != DType::float64) BOOST_TEST(chains_of(trace_step(step, arguments)).size() == 1U);
    check_bits(step, arguments);
  }
}

// Shapes of one block and of several, with operands that repeat within a block, across blocks and not at all.
BOOST_AUTO_TEST_CASE(broadcasts) {
  const std::vector<std::vector<Shape>> all{{{1003}, {}, {1}},
                                            {{77, 10}, {10}, {77, 1}},
                                            {{3, 1500}, {1500}, {3, 1}},
                                            {{6, 5, 30}, {5, 1}, {30}},
                                            {{4, 1, 5, 3}, {7, 1, 3}, {5, 1}},
                                            {{2, 3, 4}, {2, 1, 1}, {1, 3, 1}},
                                            {{40000}, {40000}, {40000}},
                                            {{1}, {1}, {1}}};
  const TestedStep step = [](const Values& x) {
    const Value a = x[0] + x[1] + x[2];
    return Values{tanh(a) * a + where(x[0] < a, x[1] + x[2] + a, x[0] + a), a};
  };
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    for (const auto& shapes : all) {
      BOOST_TEST_CONTEXT(dtype_name(dtype)
                         << " " << to_string(shapes[0]) << to_string(shapes[1]) << to_string(shapes[2])) {
        check_bits(step, random_arguments(shapes, dtype));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(backward_passes) {
  const TestedStep steps[] = {[](const Values& x) { return Values{silu(x[0]) * x[1]}; },
                              [](const Values& x) { return Values{mish(x[0]) * elu(x[1])}; },
                              [](const Values& x) { return Values{mean(square(x[0] - x[1]), {.axes = {1}})}; },
                              [](const Values& x) { return Values{gelu(x[0]) / (abs(x[1]) + 1.0)}; },
                              [](const Values& x) { return Values{maximum(x[0], x[1]) * sigmoid(x[0])}; }};
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    for (const TestedStep& step : steps) {
      const TensorList arguments = random_arguments({{9, 70}, {9, 70}}, dtype);
      BOOST_TEST(!chains_of(trace_step(with_gradients_of(step), arguments)).empty());
      check_bits(with_gradients_of(step), arguments);
    }
  }
}

// The gradient of a mean reads its one number for each row as it is.
BOOST_AUTO_TEST_CASE(broadcast_nodes_are_read_through) {
  const TestedStep step = [](const Values& x) { return mezzo::gradients(mean(square(x[0])), {x[0]}); };
  const TensorList arguments = random_arguments({{8, 9}}, DType::float32);
  const Graph graph = trace_step(step, arguments);
  BOOST_TEST(count_nodes(graph, "broadcast_to") > 0);
  BOOST_TEST(count_nodes(run_passes(graph), "broadcast_to") == 0);
  check_bits(step, arguments);
}

BOOST_AUTO_TEST_CASE(pictures_are_scaled_as_they_are_cast) {
  const TestedStep step = [](const Values& x) { return Values{cast(x[0], DType::float32) * (1.0 / 255) - 0.5}; };
  const TensorList arguments{random_tensor({2, 33}, DType::uint8, 1, 0, 256)};
  BOOST_TEST(chains_of(trace_step(step, arguments)) == (Texts{"cast + multiply + subtract"}),
             boost::test_tools::per_element());
  check_bits(step, arguments);
}

BOOST_AUTO_TEST_CASE(long_chains_are_divided) {
  const TestedStep step = [](const Values& x) {
    Value y = x[0];
    for (int i = 0; i < 100; ++i) y = y * x[1] + x[0];
    return Values{y};
  };
  const TensorList arguments = random_arguments({{130}, {130}}, DType::float32);
  BOOST_TEST(chains_of(trace_step(step, arguments)).size() >= 6U);
  check_bits(step, arguments);
}

BOOST_AUTO_TEST_CASE(non_finite_numbers_stay) {
  const float infinity = std::numeric_limits<float>::infinity();
  const TensorList arguments{Tensor({6}, std::vector<float>{infinity, -infinity, std::nanf(""), 0, -0.0F, 1e-40F}),
                             Tensor({6}, std::vector<float>{1, 0, 2, -0.0F, infinity, 3})};
  const TestedStep step = [](const Values& x) {
    return Values{relu(x[0]) + x[1],
                  maximum(x[0], x[1]) - minimum(x[0], x[1]),
                  floor(x[0]) + ceil(x[0]),
                  where(isfinite(x[0]), 1.0, x[0] * 2),
                  sign(x[0]) * sqrt(abs(x[1])),
                  mod(x[0], x[1]) + 1.0};
  };
  const TensorList eager = run_in_eager_trace(step, arguments);
  const TensorList fused = run_compiled(trace_step(step, arguments), arguments);
  for (std::size_t i = 0; i < eager.size(); ++i) BOOST_TEST(largest_difference(fused[i], eager[i]) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
