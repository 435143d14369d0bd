#include <boost/test/unit_test.hpp>

#include "compiler/steps.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Spec pair{{2}, DType::float32};

Tensor two(double a, double b) { return Tensor({2}, std::vector<double>{a, b}).cast(DType::float32); }

// d loss / d x at float32 numbers.
std::vector<double> gradient_of(const std::function<Value(const Value&)>& loss, const Tensor& x) {
  return run_in_eager_trace([&](const Values& v) { return gradients(loss(v[0]), {v[0]}); }, {x})[0].to_doubles();
}

// w is used with 2^-9, ..., 2^-9, 1, whose cotangents add up from the last: in bfloat16, 1 + 2^-9 is 1.
constexpr int small_uses = 8;
constexpr double exact_sum = 1 + small_uses * 0x1p-9;

double shared_gradient(const std::function<Value(const Value&)>& use, DType stored, DType computed, bool eager) {
  const auto w = make_variable("w", Tensor::scalar(1, stored));
  const TestedStep step = [&](const Values& x) {
    const detail::PolicyScope scope((Policy(computed)));
    Value loss = 0.0;
    for (int i = 0; i <= small_uses; ++i) {
      loss = loss + cast(use(read_variable(w)) * x[i == small_uses ? 0 : 1], DType::float32);
    }
    return gradients(loss, {read_variable(w)});
  };
  const TensorList arguments{Tensor::scalar(1, computed), Tensor::scalar(0x1p-9, computed)};
  const Tensor gradient =
      eager ? run_in_eager_trace(step, arguments)[0] : run_compiled(trace_step(step, arguments), arguments)[0];
  BOOST_TEST((gradient.dtype() == stored));
  return gradient.item();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(differentiate)

BOOST_AUTO_TEST_CASE(shared_weights_accumulate_in_float32) {
  const auto as_it_is = [](const Value& w) { return w; };
  for (const bool eager : {false, true}) {
    BOOST_TEST(shared_gradient(as_it_is, DType::float32, DType::bfloat16, eager) == exact_sum);
    BOOST_TEST(shared_gradient(as_it_is, DType::bfloat16, DType::bfloat16, eager) == 1);  // with nothing wider at hand
  }
}

BOOST_AUTO_TEST_CASE(one_compute_copy_of_many_uses_accumulates_in_float32_too) {
  Value copy;
  const auto first_copy = [&](const Value& w) {
    if (!copy.defined()) copy = cast(w, DType::bfloat16);
    return copy;
  };
  for (const bool eager : {false, true}) {
    BOOST_TEST(shared_gradient(first_copy, DType::float32, DType::bfloat16, eager) == exact_sum);
    copy = Value();
  }
}

BOOST_AUTO_TEST_CASE(a_wide_copy_of_a_narrow_variable_accumulates_wide) {
  Value copy;
  const auto first_copy = [&](const Value& w) {
    if (!copy.defined()) copy = cast(w, DType::float32);
    return copy;
  };
  const double expected = Tensor::scalar(exact_sum).cast(DType::bfloat16).item();
  BOOST_TEST(expected > 1);
  BOOST_TEST(shared_gradient(first_copy, DType::bfloat16, DType::float32, false) == expected);
}

BOOST_AUTO_TEST_CASE(products_write_weight_gradients_in_float32) {
  const DenseStep dense;
  const Graph graph = dense.trace("mixed_bfloat16");
  int narrow = 0, wide = 0;
  for (const detail::NodePtr& node : graph.nodes) {
    if (node->op->name != "matmul") continue;
    BOOST_TEST((node->inputs[0].dtype() == DType::bfloat16));
    (node->outputs[0].dtype == DType::float32 ? wide : narrow) += 1;
  }
  BOOST_TEST(narrow == 1);  // forward
  BOOST_TEST(wide == 1);    // of the kernel; nobody asks for that of the input
  for (const detail::NodePtr& node : graph.nodes) {
    const bool up = node->op->name == "cast" && node->inputs[0].dtype() == DType::bfloat16;
    if (up) BOOST_TEST(node->inputs[0].node()->op->name == "relu");
  }
}

BOOST_AUTO_TEST_CASE(uses_add_up) {
  const auto cube = [](const Value& x) { return sum(x * x * x); };
  BOOST_TEST(gradient_of(cube, two(2, 3)) == (std::vector<double>{12, 27}), boost::test_tools::per_element());
  const auto diamond = [](const Value& x) {
    const Value y = x * 2;
    return sum(y * y + y);
  };
  BOOST_TEST(gradient_of(diamond, two(1, 2)) == (std::vector<double>{10, 18}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_loss_of_several_elements_is_summed) {
  BOOST_TEST(gradient_of([](const Value& x) { return x * x; }, two(2, 3)) == (std::vector<double>{4, 6}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_a_variable_has_gradient_1) {
  BOOST_TEST(gradient_of([](const Value& x) { return x; }, two(2, 3)) == (std::vector<double>{1, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_seed_multiplies) {
  const auto step = [](const Values& v) { return gradients(sum(v[0] * v[0]), {v[0]}, Value(float64_scalar(1024))); };
  BOOST_TEST(run_in_eager_trace(step, {two(2, 3)})[0].to_doubles() == (std::vector<double>{4096, 6144}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(gradients_of_gradients) {
  const auto step = [](const Values& v) {
    const Value first = gradients(sum(v[0] * v[0] * v[0]), {v[0]})[0];
    return gradients(sum(first), {v[0]});
  };
  BOOST_TEST(run_in_eager_trace(step, {two(2, 3)})[0].to_doubles() == (std::vector<double>{12, 18}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(values_on_the_way_have_gradients_too) {
  const auto step = [](const Values& v) {
    const Value y = v[0] * 2;
    return gradients(sum(y * y), {y, v[0]});
  };
  const auto out = run_in_eager_trace(step, {two(1, 2)});
  BOOST_TEST(out[0].to_doubles() == (std::vector<double>{4, 8}), boost::test_tools::per_element());
  BOOST_TEST(out[1].to_doubles() == (std::vector<double>{8, 16}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(stop_gradient_stops_one_way_only) {
  const auto loss = [](const Value& x) { return sum(x * stop_gradient(x)); };
  BOOST_TEST(gradient_of(loss, two(2, 3)) == (std::vector<double>{2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_the_loss_does_not_depend_on_has_gradient_0_or_none) {
  for (const auto& loss :
       {TestedStep([](const Values& v) { return Values{sum(v[1])}; }),
        TestedStep([](const Values& v) { return Values{sum(stop_gradient(v[0]) * v[1])}; }),
        TestedStep([](const Values& v) { return Values{sum(sign(v[0]) * v[1])}; }),
        TestedStep([](const Values& v) { return Values{sum(cast(argmax(v[0]), v[1].dtype()) * v[1])}; }),
        TestedStep([](const Values& v) { return Values{sum(cast(equal(v[0], 1), v[1].dtype()) * v[1])}; })}) {
    Trace trace(Trace::Mode::eager);
    const Values v{trace.input("x", two(1, 2)), trace.input("y", two(3, 4))};
    const Value value = loss(v)[0];
    BOOST_TEST(!detail::partial_gradients(value, {v[0]}, Value(1.0))[0].defined());
    BOOST_TEST(detail::partial_gradients(value, {v[1]}, Value(1.0))[0].defined());
    const Tensor zero = gradients(value, {v[0]})[0].tensor();
    BOOST_TEST(zero.equal(Tensor({2})));
  }
}

BOOST_AUTO_TEST_CASE(moving_statistics_pass_no_gradient) {
  const auto step = [](const Values& v) {
    const BatchNormResult out = batch_norm(v[0], v[1], v[1], v[1], v[1]);
    return gradients(sum(out.moving_mean) + sum(v[0]), {v[0], v[1]});
  };
  const auto out = run_in_eager_trace(step, {random_tensor({3, 2}), two(1, 2)}, true);
  BOOST_TEST(out[0].to_doubles() == std::vector<double>(6, 1), boost::test_tools::per_element());
  BOOST_TEST(out[1].to_doubles() == std::vector<double>(2, 0), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(casts_give_gradients_in_their_operands_dtype) {
  const auto step = [](const Values& v) {
    return gradients(sum(cast(v[0], DType::bfloat16) * Value(two(1, 2))), {v[0]});
  };
  const Tensor gradient = run_in_eager_trace(step, {two(3, 4).cast(DType::float16)})[0];
  BOOST_TEST((gradient.dtype() == DType::float16));
  BOOST_TEST(gradient.to_doubles() == (std::vector<double>{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(means_of_many_keep_their_digits) {
  const std::int64_t n = 210000;  // 1 / n is a subnormal float16 with few digits
  const auto step = [](const Values& v) { return gradients(mean(v[0]) * 32768, {v[0]}); };
  const Tensor gradient = run_in_eager_trace(step, {Tensor({n}, DType::float16)})[0];
  const Tensor exact = Tensor::scalar(32768.0 / static_cast<double>(n), DType::float16);
  BOOST_TEST(gradient.slice(0, 1).item() == exact.item());
}

BOOST_AUTO_TEST_CASE(nothing_is_computed_that_nobody_asks_for) {
  const auto w = make_variable("w", two(1, 2));
  const Graph graph = traced([&](Trace& step) {
    const Value y = relu(exp(step.input("x", pair)));
    const Values found = gradients(sum(y * read_variable(w)), {read_variable(w), y});
    for (const Value& gradient : found) step.output("g", gradient);
  });
  BOOST_TEST(count_nodes(graph, "relu_gradient") == 0);
  BOOST_TEST(count_nodes(graph, "exp") == 1);
}

// A float32 layer in a mixed model: the backward pass runs outside of its scope.
BOOST_AUTO_TEST_CASE(gradients_are_computed_in_the_dtype_of_their_layer) {
  const auto w = make_variable("w", two(1, 2));
  const Graph graph = traced([&](Trace& step) {
    const detail::PolicyScope trainer("mixed_bfloat16");
    const Value x = step.input("x", pair);
    const Value y = [&] {
      const detail::Scope scope(
          {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Dense", "", "float32", true}), "logits"});
      return abs(x.across_border()) * read_variable(w);
    }();
    for (const Value& gradient : gradients(sum(y * y), {step.read(w), x})) step.output("g", gradient);
  });
  BOOST_TEST(count_nodes(graph, "cast") == 1);  // of the seed, from float64
  for (const detail::NodePtr& node : graph.nodes) BOOST_TEST((node->outputs[0].dtype != DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(gradients_belong_to_the_layer_of_their_ops) {
  const Graph graph = traced([](Trace& step) {
    const Value x = step.input("x", pair);
    const Value y = [&] {
      const detail::Scope scope(
          {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Dense", "head", {}, true}), "dense_1"});
      return relu(x);
    }();
    step.output("g", gradients(sum(y), {x})[0]);
  });
  const detail::NodePtr node = find_node(graph, "relu_gradient");
  BOOST_TEST(node->where == "[Dense \"head\"]");
  BOOST_TEST(node->path == "dense_1");
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_refused) {
  check_throws<ValueError>("[gradients] must be called inside a trace; got no trace", [] { gradients(two(1, 2), {}); });
  Trace trace(Trace::Mode::graph);
  const Value x = trace.input("x", pair);
  check_throws<DTypeError>("[gradients] the loss must be floating; got int64", [&] { gradients(argmax(x), {x}); });
}

BOOST_AUTO_TEST_CASE(pieces_of_a_split_come_back_as_one_concat) {
  const Tensor x = random_tensor({2, 6}), scales = random_tensor({2, 6}, DType::float32, 2);
  const TestedStep step = [](const Values& v) {
    const Values parts = split(v[0], {1, 3, 2}), by = split(v[1], {1, 3, 2});
    return gradients(sum(parts[0] * by[0]) + sum(parts[2] * by[2]) * 2.0, {v[0]});
  };
  const Graph graph = trace_step(step, {x, scales});
  BOOST_TEST(count_nodes(graph, "concat") == 1);
  BOOST_TEST(count_nodes(graph, "pad") == 0);
  const std::vector<double> got = run_compiled(graph, {x, scales})[0].to_doubles(), by = scales.to_doubles();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t column = i % 6;
    BOOST_TEST(got[i] == (column == 0 ? by[i] : column < 4 ? 0 : 2 * by[i]));
  }
}

BOOST_AUTO_TEST_SUITE_END()
