#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "compiler/steps.hpp"
#include "support/precision.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A block of a residual network: norm and ReLU, a product, norm, the sum with a shortcut, ReLU.
struct Block {
  bool projects = false;  ///< the shortcut has a norm of its own, else it is the input
  DType dtype = DType::float64;
  Value (*activation)(const Value&) = relu;
  double most = 2;  ///< of gamma and beta

  Value norm(const Value& x, std::uint64_t seed) const {
    const DType wide = accumulation_dtype(dtype);
    const auto of = [&](std::uint64_t i, double low) { return random_tensor({4}, wide, seed + i, low, most); };
    return batch_norm(x, of(0, 0.5), of(1, -1), of(2, -1), of(3, 0.5)).y;
  }
  Value operator()(const Value& x) const {
    const Value weights = random_tensor({4, 4}, dtype, 20);
    const Value main = norm(matmul(activation(norm(x, 1)), weights), 5);
    return activation(main + (projects ? norm(matmul(x, weights), 9) : x));
  }
  /// Output 0: what the block gives; 1: the cotangent of its input.
  Graph trace() const {
    return traced([&](Trace& step) {
      const Value x = step.input("x", Spec{{8, 4}, dtype});
      const Value y = (*this)(x * 1.0);
      step.output("y", y);
      step.output("dx", gradients(sum(y * random_tensor({8, 4}, dtype, 40)), {x})[0]);
    });
  }
};

std::string counts(const Graph& graph) {
  std::string text;
  for (const char* op : {"batch_norm", "batch_norm_gradient", "relu", "relu_gradient", "add"}) {
    text += (text.empty() ? "" : " ") + std::to_string(count_nodes(graph, op));
  }
  return text;
}

TensorList run(const Graph& graph, DType dtype, bool fuse) {
  detail::Plan plan = planned(graph, fuse);
  plan.run({random_tensor({8, 4}, dtype, 30, -1, 2)}, {});
  return {plan.output(0), plan.output(1)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fusing_batch_norm)

BOOST_AUTO_TEST_CASE(relu_and_residual_join_the_norm_both_ways) {
  const Graph graph = Block{}.trace();
  BOOST_TEST(counts(simplify(graph)) == "2 2 2 2 2");
  BOOST_TEST(counts(run_passes(graph)) == "2 2 0 0 1");  // what the input's cotangents are added by
}

BOOST_AUTO_TEST_CASE(relu6_joins_the_norm_both_ways) {
  const Graph graph = Block{.activation = relu6}.trace();
  BOOST_TEST(counts(simplify(graph)) == "2 2 2 2 2");
  BOOST_TEST(counts(run_passes(graph)) == "2 2 0 0 1");
}

BOOST_AUTO_TEST_CASE(gradient_computes_the_output_again) {
  for (const DType dtype : float_dtypes) {
    const Graph graph = run_passes(Block{.dtype = dtype}.trace());
    int again = 0;
    for (const detail::NodePtr& node : graph.nodes) {
      if (node->op->name != "batch_norm_gradient" || !node->attributes.get<bool>("shift")) continue;
      BOOST_TEST((node->inputs[5].shape() == Shape{4}));
      ++again;
    }
    BOOST_TEST(again == 1, dtype_name(dtype));  // the other has a residual
  }
}

BOOST_AUTO_TEST_CASE(a_second_relu_stays) {
  const auto step = [](const Values& v) {
    const Value y = relu(Block{}.norm(v[0], 1));
    return Values{y, relu6(y)};
  };
  const Graph graph = run_passes(trace_step(step, {random_tensor({8, 4}, DType::float64)}, true));
  BOOST_TEST(count_nodes(graph, "relu") == 1);
  BOOST_TEST(!find_node(graph, "batch_norm")->attributes.has("max_value"));
}

BOOST_AUTO_TEST_CASE(products_take_no_relu6) {
  const auto step = [](const Values& v) { return Values{relu6(matmul(v[0], v[1]))}; };
  const TensorList x{random_tensor({8, 4}, DType::float64, 1, 0, 9), random_tensor({4, 4}, DType::float64, 2)};
  const Graph graph = trace_step(step, x, true);
  BOOST_TEST(count_nodes(run_passes(graph), "relu") == 1);
  BOOST_TEST(run_compiled(graph, x, true)[0].equal(run_compiled(graph, x, false)[0]));
}

BOOST_AUTO_TEST_CASE(of_two_norms_one_takes_the_other_as_residual) {
  const Graph graph = Block{.projects = true}.trace();
  BOOST_TEST(counts(simplify(graph)) == "3 3 2 2 2");
  BOOST_TEST(counts(run_passes(graph)) == "3 3 0 0 1");
}

BOOST_AUTO_TEST_CASE(fused_is_unfused_but_for_rounding) {
  for (const Block& block : {Block{}, Block{.projects = true}, Block{.activation = relu6, .most = 8},
                             Block{.projects = true, .activation = relu6, .most = 8}}) {
    for (const DType dtype : float_dtypes) {
      Block of = block;
      of.dtype = dtype;
      const Graph graph = of.trace();
      const TensorList one = run(graph, dtype, true), other = run(graph, dtype, false);
      // Where a half-precision sum rounds to relu6's upper limit in one of the two, their gradients differ by design.
      const bool near_limit = block.most > 2 && dtype_size(dtype) == 2;
      for (std::size_t i = 0; i < (near_limit ? 1U : 2U); ++i) {
        double largest = 0;
        for (const double number : other[i].to_doubles()) largest = std::max(largest, std::abs(number));
        // Unfused, sums are rounded before the relu; the gradient passes several such roundings.
        const double bound = 8 * ulp(dtype, largest);
        BOOST_TEST(largest_difference(one[i], other[i]) <= bound, dtype_name(dtype) << " output " << i);
      }
      const std::vector<double> y = one[0].to_doubles();
      if (block.most > 2) BOOST_TEST(std::count(y.begin(), y.end(), 6.0) > 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_others_read_stays) {
  const auto step = [](const Values& v) {
    const Value y = Block{}.norm(v[0], 1);
    return Values{relu(y), exp(y)};
  };
  const Graph graph = run_passes(trace_step(step, {random_tensor({8, 4}, DType::float64)}, true));
  BOOST_TEST(count_nodes(graph, "relu") == 1);
  BOOST_TEST(!find_node(graph, "batch_norm")->attributes.has("epilogue"));
}

BOOST_AUTO_TEST_CASE(a_sum_with_a_residual_that_others_read_stays) {
  const auto step = [](const Values& v) {
    const Value y = Block{}.norm(v[0], 1) + v[1];
    return Values{relu(y), exp(y)};
  };
  const TensorList x{random_tensor({8, 4}, DType::float64, 1), random_tensor({8, 4}, DType::float64, 2)};
  const Graph graph = trace_step(step, x, true);
  BOOST_TEST(counts(run_passes(graph)) == "1 0 1 0 1");
  const TensorList fused = run_compiled(graph, x, true), plain = run_compiled(graph, x, false);
  for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(fused[i].equal(plain[i]));
}

BOOST_AUTO_TEST_CASE(a_residual_has_the_shape_of_the_output) {
  const auto step = [](const Values& v) { return Values{relu(Block{}.norm(v[0], 1) + v[1])}; };
  const TensorList x{random_tensor({8, 4}, DType::float64), random_tensor({4}, DType::float64)};
  BOOST_TEST(count_nodes(run_passes(trace_step(step, x, true)), "relu") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
