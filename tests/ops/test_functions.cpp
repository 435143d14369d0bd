// Ops that call functions of the user's program, and ops of the user's program.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <sstream>

#include <mezzo/compiler/custom_op.hpp>
#include <mezzo/ops/custom_gradient.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/runs.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// 2 x, with a gradient of 5.
Value doubled(const Value& x) {
  static const auto function = custom_gradient([](const Values& xs) {
    return CustomGradientResult{xs[0] * 2, [](const Value& upstream) { return Values{upstream * 5}; }};
  });
  return function({x});
}

CustomOpOptions scaled_options() {
  CustomOpOptions options;
  options.name = "test_scaled";
  options.kernel = [](const KernelCall& call) {
    const auto factor = static_cast<float>(call.request.attributes.get<double>("factor"));
    const std::int64_t count = element_count(call.request.inputs[0].shape);
    for (std::int64_t i = 0; i < count; ++i) call.out<float>(0)[i] = factor * call.in<float>(0)[i];
  };
  options.gradient = [](const GradientContext& context) {
    return Values{context.cotangent() * context.attributes().get<double>("factor")};
  };
  return options;
}

const CustomOp& scaled() {
  static const CustomOp op(scaled_options());
  return op;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functions)

BOOST_AUTO_TEST_CASE(custom_gradients_replace_those_of_the_ops) {
  const Tensor x({3}, std::vector<float>{1, -2, 3});
  BOOST_TEST(doubled(x).tensor().equal(Tensor({3}, std::vector<float>{2, -4, 6})));
  for (const Trace::Mode mode : {Trace::Mode::graph, Trace::Mode::eager}) {
    const auto step = [](const Values& xs) { return gradients(sum(doubled(xs[0])), {xs[0]}); };
    const TensorList found = mode == Trace::Mode::eager ? run_in_eager_trace(step, {x}, true)
                                                        : run_compiled(trace_step(step, {x}, true), {x}, true);
    BOOST_TEST(found[0].equal(Tensor({3}, std::vector<float>{5, 5, 5})));
  }
}

BOOST_AUTO_TEST_CASE(custom_gradients_are_checked) {
  const auto none = custom_gradient([](const Values& xs) {
    return CustomGradientResult{xs[0], [](const Value&) { return Values{}; }};
  });
  const auto wrong = custom_gradient([](const Values& xs) {
    return CustomGradientResult{xs[0], [](const Value& upstream) { return Values{sum(upstream)}; }};
  });
  Trace trace(Trace::Mode::graph, true);
  const Value x = trace.input("x", Spec{{2}, DType::float32});
  check_throws<ValueError>("[custom_gradient] the gradient must return 1 values, one for each argument; got 0",
                           [&] { gradients(sum(none({x})), {x}); });
  check_throws<ShapeError>("[custom_gradient] gradient of argument 0 must have shape (2,); got shape ()",
                           [&] { gradients(sum(wrong({x})), {x}); });
}

BOOST_AUTO_TEST_CASE(gradients_through_host_are_refused) {
  Trace trace(Trace::Mode::graph, true);
  const Value x = trace.input("x", Spec{{2}, DType::float32});
  const Value y = host([](const Tensor& numbers) { return numbers; }, x);
  check_throws<ValueError>(
      "[host] host() has no gradient; expected stop_gradient() around it, or custom_gradient(); got a loss that "
      "depends on it",
      [&] { gradients(sum(y), {x}); });
  gradients(sum(stop_gradient(y) * x), {x});
}

BOOST_AUTO_TEST_CASE(host_takes_several_arguments_and_other_results) {
  const Tensor a({2}, std::vector<float>{1, 2}), b({2}, std::vector<float>{3, 4});
  HostOptions options;
  options.shape = Shape{};
  options.dtype = DType::float64;
  const auto dot = [](const std::vector<Tensor>& xs) {
    double total = 0;
    for (std::size_t i = 0; i < 2; ++i) total += xs[0].to_doubles()[i] * xs[1].to_doubles()[i];
    return Tensor::scalar(total, DType::float64);
  };
  BOOST_TEST(host(dot, {a, b}, options).item() == 11);
}

BOOST_AUTO_TEST_CASE(print_writes_when_the_step_runs) {
  std::ostringstream text;
  auto* const before = std::cout.rdbuf(text.rdbuf());
  PrintOptions options;
  options.message = "x:";
  const Graph graph = trace_step([&](const Values& xs) { return Values{print(xs[0], options) * 2}; }, {Tensor({2})});
  const bool silent = text.str().empty();
  run_compiled(graph, {Tensor({2}, std::vector<float>{1, 2})}, true);
  std::cout.rdbuf(before);
  BOOST_TEST(silent);
  BOOST_TEST(text.str().rfind("x: ", 0) == 0U);
  BOOST_TEST(text.str().find("2") != std::string::npos);
}

// Products of int8 have an attribute of that name, too.
BOOST_AUTO_TEST_CASE(custom_ops_may_have_an_attribute_products) {
  const Tensor x({2}, std::vector<float>{1, -2});
  const auto step = [](const Values& xs) {
    return Values{scaled()(xs[0], {{"factor", 3.0}, {"products", std::string("all")}})};
  };
  const Tensor expected({2}, std::vector<float>{3, -6});
  BOOST_TEST(run_in_eager_trace(step, {x})[0].equal(expected));
  const Graph graph = run_passes(trace_step(step, {x}), {});
  BOOST_TEST(run_compiled(graph, {x})[0].equal(expected));
  const detail::Plan plan(graph, std::make_shared<Arena>());
  BOOST_TEST_REQUIRE(plan.rows().size() == 1U);
  BOOST_TEST(plan.rows()[0].op == "test_scaled");
}

BOOST_AUTO_TEST_CASE(custom_ops_run_in_every_policy) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    const Tensor x = Tensor({3}, std::vector<float>{1, -2, 3}).cast(dtype);
    const auto step = [](const Values& xs) {
      const Value y = scaled()(xs[0], {{"factor", 4.0}});
      return Values{y, gradients(sum(y), {xs[0]})[0]};
    };
    for (const bool eager : {false, true}) {
      const TensorList found =
          eager ? run_in_eager_trace(step, {x}, true) : run_compiled(trace_step(step, {x}, true), {x}, true);
      BOOST_TEST(found[0].equal(Tensor({3}, std::vector<float>{4, -8, 12}).cast(dtype)));
      BOOST_TEST(found[1].equal(Tensor({3}, std::vector<float>{4, 4, 4}).cast(dtype)));
    }
  }
}

BOOST_AUTO_TEST_CASE(custom_ops_are_checked) {
  check_throws<ValueError>("[CustomOp] name must be given; got \"\"", [] { const CustomOp op{CustomOpOptions()}; });
  CustomOpOptions options = scaled_options();
  options.name = "relu";
  check_throws<NameError>("[custom_op] name must not be that of one of the library's ops; got \"relu\"",
                          [&] { const CustomOp op(options); });
  options.name = "test_empty";
  options.kernel = nullptr;
  check_throws<ValueError>("[CustomOp \"test_empty\"] exactly one of kernel and create must be given; got none",
                           [&] { const CustomOp op(options); });
}

// 1 / 100,000 is subnormal in float16, where it has 8 of 11 bits.
BOOST_AUTO_TEST_CASE(the_gradient_of_a_mean_divides_in_float32) {
  const auto step = [](const Values& v) { return gradients(mean(v[0]) * 1000.0, {v[0]}); };
  const Tensor gradient = run_in_eager_trace(step, {Tensor({100'000}, DType::float16)}).front();
  BOOST_TEST((gradient.dtype() == DType::float16));
  BOOST_TEST(gradient.to_doubles().front() == 0.01, boost::test_tools::tolerance(0x1p-11));
}

BOOST_AUTO_TEST_SUITE_END()
