#include <boost/test/unit_test.hpp>

#include <set>

#include <mezzo/graph/op.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/ops/activation.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(names)

BOOST_AUTO_TEST_CASE(of_ops_and_their_aliases_are_given_once) {
  std::set<std::string> seen;
  for (const Op* op : registered_ops()) {
    BOOST_TEST(seen.insert(op->name).second, op->name);
    for (const std::string& alias : op->torch_names) BOOST_TEST(seen.insert(alias).second, alias);
    BOOST_TEST(&find_op(op->name) == op);
  }
}

BOOST_AUTO_TEST_CASE(of_activations) {
  const Tensor x = random_tensor({9}, DType::float32, 1, -2, 2);
  BOOST_TEST(ActivationFunction("relu")(x).tensor().equal(relu(x).tensor()));
  BOOST_TEST(ActivationFunction("exp")(x).tensor().equal(exp(x).tensor()));
  BOOST_TEST(ActivationFunction("tanh")(x).tensor().equal(tanh(x).tensor()));
  BOOST_TEST(ActivationFunction("sigmoid")(x).tensor().equal(sigmoid(x).tensor()));
  BOOST_TEST(ActivationFunction("gelu")(x).tensor().equal(gelu(x, false).tensor()));
  BOOST_TEST(ActivationFunction("softmax")(x).tensor().equal(softmax(x, -1).tensor()));
  BOOST_TEST(ActivationFunction("linear")(x).tensor().equal(x));
  BOOST_TEST(ActivationFunction()(x).tensor().equal(x));
  BOOST_TEST(ActivationFunction([](const Value& v) { return v * 2; })(x).tensor().equal((Value(x) * 2).tensor()));
  check_throws<NameError>(
      "unknown activation \"rellu\"; valid names: celu, elu, exp, exponential, gelu, glu, hard_shrink, hard_sigmoid, "
      "hard_silu, "
      "hard_swish, hard_tanh, leaky_relu, linear, log_sigmoid, log_softmax, mish, relu, "
      "relu6, selu, sigmoid, silu, soft_shrink, softmax, softplus, softsign, sparse_plus, "
      "sparse_sigmoid, sparsemax, squareplus, swish, tanh, tanh_shrink; nearest: \"relu\"",
      [] { ActivationFunction("rellu"); });
}

BOOST_AUTO_TEST_CASE(of_padding) {
  const auto resolve = [](const detail::Padding& padding) {
    return padding.resolve("[conv2d]", {7, 8}, {3, 4}, {2, 3}, {1, 1});
  };
  BOOST_TEST(resolve("valid") == (Shape{0, 0, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(resolve("same") == (Shape{1, 1, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(resolve(2) == (Shape{2, 2, 2, 2}), boost::test_tools::per_element());
  BOOST_TEST(resolve({1, 2}) == (Shape{1, 1, 2, 2}), boost::test_tools::per_element());
  const Shape odd = detail::Padding("same").resolve("[conv2d]", {8, 8}, {3, 3}, {2, 2}, {1, 1});
  BOOST_TEST(odd == (Shape{0, 1, 0, 1}), boost::test_tools::per_element());  // TensorFlow's: the odd one goes last
  check_throws<NameError>("unknown padding \"full\"; valid names: same, valid (or numbers of pixels)",
                          [] { detail::Padding("full"); });
  check_throws<ValueError>("[conv2d] padding must be one or two numbers of at least 0; got (-1,)",
                           [&] { resolve(-1); });
}

BOOST_AUTO_TEST_SUITE_END()
