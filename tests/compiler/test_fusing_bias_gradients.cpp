#include <boost/test/unit_test.hpp>

#include "compiler/steps.hpp"
#include "support/precision.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::string counts(const Graph& graph) {
  std::string text;
  for (const char* op : {"relu_bias_gradient", "relu_gradient", "sum"}) {
    text += (text.empty() ? "" : " ") + std::to_string(count_nodes(graph, op));
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fusing_bias_gradients)

BOOST_AUTO_TEST_CASE(the_sum_joins_the_relu_under_every_policy) {
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16", "float64"}) {
    const Graph graph = DenseStep{}.trace(policy);
    BOOST_TEST(counts(simplify(graph)) == "0 1 2", policy);  // the other sum is the loss
    BOOST_TEST(counts(run_passes(graph)) == "1 0 1", policy);
  }
}

BOOST_AUTO_TEST_CASE(a_bias_in_half_precision_keeps_its_own_sum) {
  const auto step = [](const Values& v) {
    const Value y = relu(v[0]);
    const Value masked = gradients(sum(cast(y, DType::float32)), {v[0]})[0];
    return Values{masked, sum(masked, {.axes = {0}})};
  };
  const Graph graph = trace_step(step, {random_tensor({6, 4}, DType::bfloat16)}, true);
  BOOST_TEST(counts(fuse_bias_gradients(simplify(graph))) == "0 1 1");
}

BOOST_AUTO_TEST_CASE(other_sums_stay) {
  for (const Shape& axes : {Shape{1}, Shape{0, 1}}) {
    const auto step = [&](const Values& v) {
      const Value masked = gradients(sum(relu(v[0])), {v[0]})[0];
      return Values{masked, sum(masked, {.axes = axes})};
    };
    const Graph graph = trace_step(step, {random_tensor({6, 4})}, true);
    BOOST_TEST(counts(fuse_bias_gradients(simplify(graph))) == "0 1 1");
  }
}

// Only the axes tell the sum over columns of a square matrix from the gradient of a bias.
BOOST_AUTO_TEST_CASE(a_sum_over_the_other_axis_of_a_square_stays) {
  const TensorList x{small_integers({4, 4}, DType::float32, 1), small_integers({4, 4}, DType::float32, 2)};
  for (const std::int64_t axis : {0, 1}) {
    const auto step = [&](const Values& v) {
      const Value masked = gradients(sum(relu(v[0]) * v[1]), {v[0]})[0];
      return Values{masked, sum(masked, {.axes = {axis}})};
    };
    const Graph graph = trace_step(step, x, true);
    BOOST_TEST(counts(fuse_bias_gradients(simplify(graph))) == (axis == 0 ? "1 0 0" : "0 1 1"));
    BOOST_TEST(run_compiled(graph, x, true)[1].equal(run_compiled(graph, x, false)[1]), "axis " << axis);
  }
}

BOOST_AUTO_TEST_CASE(numbers_stay_the_same) {
  const auto step = [](const Values& v) {
    const Value masked = gradients(sum(relu(v[0]) * v[1]), {v[0]})[0];
    return Values{masked, sum(masked, {.axes = {0, 1}})};
  };
  const TensorList x{small_integers({3, 5, 4}, DType::float32, 1), small_integers({3, 5, 4}, DType::float32, 2)};
  const Graph graph = trace_step(step, x, true);
  BOOST_TEST(counts(run_passes(graph)) == "1 0 0");
  const TensorList fused = run_compiled(graph, x, true), plain = run_compiled(graph, x, false);
  for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(fused[i].equal(plain[i]));
}

BOOST_AUTO_TEST_SUITE_END()
