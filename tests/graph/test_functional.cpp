#include <boost/test/unit_test.hpp>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/runs.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// A symbol of a functional graph, whose batch isn't known.
Value symbol(const Shape& shape, DType dtype = DType::float32) {
  auto node = std::make_shared<detail::Node>();
  node->op = &input_op();
  node->where = "[Input]";
  node->outputs = {{shape, dtype}};
  return {node, 0};
}

void check_shape(const Value& value, const Shape& shape) {
  BOOST_TEST(value.symbolic());
  BOOST_TEST(value.shape() == shape, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functional)

BOOST_AUTO_TEST_CASE(ops_on_symbols_make_symbols_of_unknown_batch) {
  const Value images = symbol({-1, 8, 8, 3});
  const Value features = conv2d(images, Tensor({3, 3, 3, 4}), {.padding = "same"});
  check_shape(features, {-1, 8, 8, 4});
  check_shape(max_pool2d(features), {-1, 4, 4, 4});
  check_shape(reshape(features, {-1, 256}), {-1, 256});
  check_shape(mean(features, {{1, 2}, false}), {-1, 4});
  check_shape(features + Tensor({4}), {-1, 8, 8, 4});
  check_shape(features * features, {-1, 8, 8, 4});
  check_shape(matmul(symbol({-1, 5}), Tensor({5, 2})), {-1, 2});
  check_shape(transpose(symbol({-1, 5, 2}), {0, 2, 1}), {-1, 2, 5});
  check_shape(argmax(symbol({-1, 5})), {-1});
  check_shape(sparse_crossentropy(symbol({-1}, DType::int32), symbol({-1, 5}), true), {-1});
  check_shape(dropout(symbol({-1, 5}), 0.5), {-1, 5});
  const Tensor c({4});
  check_shape(batch_norm(features, c, c, c, c).y, {-1, 8, 8, 4});
}

BOOST_AUTO_TEST_CASE(errors_fall_on_the_line_that_builds_the_graph) {
  check_throws<ShapeError>("[matmul] input axis -1 must be 4 (rows of the second operand); got shape (?, 5)", [] {
    matmul(symbol({-1, 5}), Tensor({4, 2}));
  });
  check_throws<ShapeError>("[add] shapes must be equal or 1 on axis -1; got (?, 5) and (4,)", [] {
    add(symbol({-1, 5}), Tensor({4}));
  });
}

BOOST_AUTO_TEST_CASE(dtypes_are_those_of_the_policy_but_nodes_stay_uncast) {
  const detail::Scope scope(
      {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Dense", "", "mixed_bfloat16", true}), "dense"});
  const auto kernel = make_variable("kernel", Tensor({5, 2}));
  const Value x = symbol({-1, 5});
  const Value y = matmul(x.across_border(), read_variable(kernel));
  BOOST_TEST((y.dtype() == DType::bfloat16));
  BOOST_TEST(y.node()->inputs[0].same_as(x));
  BOOST_TEST(y.node()->inputs[0].crosses_border());
  BOOST_TEST(y.node()->inputs[1].node()->variable == kernel);
}

BOOST_AUTO_TEST_CASE(nodes_remember_their_layers) {
  const detail::Scope outer(
      {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Sequential", "", {}, true}), "net"});
  const detail::Scope inner(
      {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Dense", "head", {}, true}), "dense_1"});
  const Value y = exp(symbol({-1, 5}));
  BOOST_TEST(y.node()->frames.size() == 2U);
  BOOST_TEST(y.node()->frames[1].entry == "dense_1");
  BOOST_TEST(y.node()->where == "[Dense \"head\"]");
  BOOST_TEST(y.node()->trace == 0U);
}

BOOST_AUTO_TEST_CASE(symbols_have_no_numbers) {
  check_throws<ValueError>(
      "[exp] a symbolic Value (output of exp) has no numbers while the step is traced: log() it, or return it",
      [] { exp(symbol({-1})).item(); });
}

BOOST_AUTO_TEST_CASE(traces_refuse_them) {
  const Value y = exp(symbol({2}));
  Trace trace(Trace::Mode::graph);
  check_throws<ValueError>(
      "[exp] output of exp is a symbol of another trace or of a functional graph; call the Model that owns it",
      [&] { relu(y); });
}

BOOST_AUTO_TEST_CASE(symbolic_updates_outside_of_layers_are_refused) {
  const auto variable = make_variable("mean", Tensor({2}));
  const Value x = symbol({2});
  check_throws<ValueError>(
      "[Variable \"mean\"] update: a symbolic value must come from a layer's call; got one outside",
      [&] { update_variable(variable, x * 2); });
}

BOOST_AUTO_TEST_CASE(updates_are_attached_to_an_output) {
  const auto variable = make_variable("mean", Tensor({2}));
  const Value x = symbol({2});
  detail::UpdateCollector updates;
  BOOST_TEST(updates.empty());
  update_variable(variable, x * 2);
  update_in_training(variable, x * 3);
  BOOST_TEST(!updates.empty());
  const Value output = exp(x);
  updates.attach_to(output);
  BOOST_TEST(updates.empty());
  BOOST_TEST(output.node()->updates.size() == 2U);
  BOOST_TEST(output.node()->updates[0].variable == variable);
  BOOST_TEST(variable->value.equal(Tensor({2})));
}

// The layers' way: on a node of their own, since an update that holds what it hangs on would never be freed.
BOOST_AUTO_TEST_CASE(updates_are_freed_with_their_graph) {
  const auto mean = make_variable("mean", Tensor({3}));
  std::weak_ptr<detail::Node> norm;
  {
    const Tensor c({3});
    const BatchNormResult result = batch_norm(symbol({-1, 3}), c, c, c, c);
    norm = result.y.node();
    detail::UpdateCollector updates;
    update_variable(mean, result.moving_mean);
    updates.attach_to(identity(result.y));
  }
  BOOST_TEST(norm.expired());
}

// As deep as a network of many layers never is, and any recursion would overflow the stack.
BOOST_AUTO_TEST_CASE(long_chains_are_freed_without_recursion) {
  std::weak_ptr<detail::Node> first;
  {
    Value x = symbol({2});
    first = x.node();
    for (int i = 0; i < 300000; ++i) {
      auto node = std::make_shared<detail::Node>();
      node->op = &find_op("negative");
      node->inputs = {x};
      node->outputs = {{{2}, DType::float32}};
      x = Value(node, 0);
    }
  }
  BOOST_TEST(first.expired());
}

BOOST_AUTO_TEST_CASE(shared_parts_of_freed_chains_live_on) {
  const Value kept = exp(symbol({2}));
  { const Value longer = relu(exp(kept) + kept); }
  BOOST_TEST(kept.node()->inputs.size() == 1U);
  BOOST_TEST(kept.node()->inputs[0].node()->op->name == "input");
}

BOOST_AUTO_TEST_SUITE_END()
