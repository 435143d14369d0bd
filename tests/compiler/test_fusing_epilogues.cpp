#include <boost/test/unit_test.hpp>

#include "compiler/steps.hpp"
#include "support/precision.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const TensorList arguments{random_tensor({5, 3}, DType::float32, 1), random_tensor({3, 4}, DType::float32, 2),
                           random_tensor({4}, DType::float32, 3)};

Graph fused(const TestedStep& step, const TensorList& x = arguments) { return run_passes(trace_step(step, x)); }

// How many inputs the only product has, and its epilogue: "3 relu".
std::string product_of(const Graph& graph, const std::string& op = "matmul") {
  BOOST_TEST(count_nodes(graph, op) == 1);
  const detail::NodePtr node = find_node(graph, op);
  const bool relu = node->attributes.get_or("epilogue", detail::Epilogue::none) == detail::Epilogue::relu;
  return std::to_string(node->inputs.size()) + (relu ? " relu" : " none");
}

// The largest distance between fused and unfused, in units of the largest number's last place.
double distance(const TestedStep& step, const TensorList& x) {
  const Graph graph = trace_step(step, x);
  const Tensor one = run_compiled(graph, x, true)[0], other = run_compiled(graph, x, false)[0];
  BOOST_TEST((one.dtype() == other.dtype()));
  double largest = 0, off = 0;
  const std::vector<double> a = one.to_doubles(), b = other.to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    off = std::max(off, std::abs(a[i] - b[i]));
  }
  return off / ulp(one.dtype(), largest);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fusing_epilogues)

BOOST_AUTO_TEST_CASE(bias_and_relu_join_the_product) {
  const auto step = [](const Values& v) { return Values{relu(matmul(v[0], v[1]) + v[2])}; };
  const Graph graph = fused(step);
  BOOST_TEST(product_of(graph) == "3 relu");
  BOOST_TEST(count_nodes(graph, "add") + count_nodes(graph, "relu") == 0);
  const auto swapped = [](const Values& v) { return Values{relu(v[2] + matmul(v[0], v[1]))}; };
  BOOST_TEST(product_of(fused(swapped)) == "3 relu");
}

BOOST_AUTO_TEST_CASE(either_may_be_alone) {
  BOOST_TEST(product_of(fused([](const Values& v) { return Values{relu(matmul(v[0], v[1]))}; })) == "2 relu");
  BOOST_TEST(product_of(fused([](const Values& v) { return Values{matmul(v[0], v[1]) + v[2]}; })) == "3 none");
}

BOOST_AUTO_TEST_CASE(convolutions_too) {
  const TensorList x{random_tensor({1, 5, 5, 2}), random_tensor({3, 3, 2, 4}), random_tensor({4})};
  const auto step = [](const Values& v) { return Values{relu(conv2d(v[0], v[1]) + v[2])}; };
  BOOST_TEST(product_of(fused(step, x), "conv2d") == "3 relu");
}

BOOST_AUTO_TEST_CASE(a_product_that_others_read_stays_as_it_is) {
  const auto biased = [](const Values& v) {
    const Value product = matmul(v[0], v[1]);
    return Values{product + v[2], product};
  };
  BOOST_TEST(product_of(fused(biased)) == "2 none");
  const auto active = [](const Values& v) {
    const Value y = matmul(v[0], v[1]) + v[2];
    return Values{relu(y), exp(y)};
  };
  BOOST_TEST(product_of(fused(active)) == "3 none");
}

BOOST_AUTO_TEST_CASE(the_bias_is_one_number_a_column) {
  for (const Shape& shape : {Shape{5, 4}, Shape{1, 4}, Shape{5, 1}, Shape{1}, Shape{}}) {
    const auto step = [](const Values& v) { return Values{matmul(v[0], v[1]) + v[2]}; };
    const TensorList x{arguments[0], arguments[1], Tensor(shape)};
    BOOST_TEST(product_of(fused(step, x)) == "2 none", to_string(shape));
  }
}

BOOST_AUTO_TEST_CASE(only_one_bias) {
  const auto step = [](const Values& v) { return Values{matmul(v[0], v[1]) + v[2] + v[2] * 2}; };
  const Graph graph = fused(step);
  BOOST_TEST(product_of(graph) == "3 none");
  BOOST_TEST(count_nodes(graph, "add") == 1);
  BOOST_TEST(distance(step, arguments) <= 2);
}

BOOST_AUTO_TEST_CASE(a_bias_after_the_relu_stays_outside) {
  const auto step = [](const Values& v) { return Values{relu(matmul(v[0], v[1])) + v[2]}; };
  const Graph graph = fused(step);
  BOOST_TEST(product_of(graph) == "2 relu");
  BOOST_TEST(count_nodes(graph, "add") == 1);
  const Graph again = fuse_epilogues(graph);
  BOOST_TEST(product_of(again) == "2 relu");
  BOOST_TEST(count_nodes(again, "add") == 1);
}

BOOST_AUTO_TEST_CASE(the_variables_own_float32_is_the_bias) {
  const DenseStep dense;
  const Graph graph = run_passes(trace_step(
      [&](const Values& x) {
        const detail::PolicyScope scope("mixed_bfloat16");
        return Values{dense.forward(x[0])};
      },
      {DenseStep::input()}));
  BOOST_TEST(product_of(graph) == "3 relu");
  const detail::NodePtr node = find_node(graph, "matmul");
  BOOST_TEST(node->inputs[2].node()->variable == dense.bias);
  BOOST_TEST((node->inputs[2].dtype() == DType::float32));
  BOOST_TEST((node->outputs[0].dtype == DType::bfloat16));
  BOOST_TEST(count_nodes(graph, "cast") == 2);  // of the input and of the kernel
}

// Fused, the sum isn't rounded before the bias is added: a unit of the narrow dtype apart, or a little more where
// signs cancel.
BOOST_AUTO_TEST_CASE(fused_is_unfused_but_for_rounding) {
  for (const DType dtype : float_dtypes) {
    TensorList x, image{random_tensor({2, 6, 6, 3}, dtype, 1), random_tensor({3, 3, 3, 4}, dtype, 2)};
    for (const Tensor& argument : arguments) x.push_back(argument.cast(dtype));
    image.push_back(x[2]);
    BOOST_TEST_CONTEXT(dtype_name(dtype)) {
      BOOST_TEST(distance([](const Values& v) { return Values{relu(matmul(v[0], v[1]) + v[2])}; }, x) <= 2);
      BOOST_TEST(distance([](const Values& v) { return Values{relu(conv2d(v[0], v[1]) + v[2])}; }, image) <= 2);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_fused_training_step_gives_the_same_gradients) {
  for (const std::string& policy : policy_names) {
    const DenseStep fused_dense, plain_dense;  // of small integers: exact in every policy
    detail::Plan one = planned(fused_dense.trace(policy), true), other = planned(plain_dense.trace(policy), false);
    for (detail::Plan* plan : {&one, &other}) plan->run({DenseStep::input()}, {});
    BOOST_TEST(one.scalar(0) == other.scalar(0), policy);
    BOOST_TEST(fused_dense.kernel->value.equal(plain_dense.kernel->value), policy);
    BOOST_TEST(fused_dense.bias->value.equal(plain_dense.bias->value), policy);
    BOOST_TEST(fused_dense.kernel_momentum->value.equal(plain_dense.kernel_momentum->value), policy);
  }
}

BOOST_AUTO_TEST_SUITE_END()
