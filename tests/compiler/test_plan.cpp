#include <boost/test/unit_test.hpp>

#include <mezzo/graph/op_registry.hpp>

#include "compiler/steps.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Spec pair{{2}, DType::float32};

Tensor two(float a, float b) { return {{2}, std::vector<float>{a, b}}; }

detail::Plan doubling() {
  return planned(traced([](Trace& step) { step.output("y", step.input("x", pair) * 2); }));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plan)

BOOST_AUTO_TEST_CASE(tells_what_it_takes_and_gives) {
  const detail::Plan plan = planned(traced([](Trace& step) {
    const Value x = step.input("x", pair), y = step.input("y", Spec{{}, DType::int64});
    step.output("sum", x + cast(detail::runtime_scalar(detail::RuntimeScalar::step), DType::float32));
    step.output("same", y);
    step.output("rate", detail::runtime_scalar(detail::RuntimeScalar::learning_rate));
  }));
  BOOST_TEST((plan.runtime_keys() ==
              std::vector<detail::RuntimeKey>{{detail::RuntimeScalar::step}, {detail::RuntimeScalar::learning_rate}}));
  BOOST_TEST(plan.output_names() == (std::vector<std::string>{"sum", "same", "rate"}),
             boost::test_tools::per_element());
  BOOST_TEST((plan.inputs() == std::vector<Spec>{pair, Spec{{}, DType::int64}}));
}

BOOST_AUTO_TEST_CASE(computes_anew_in_each_run) {
  detail::Plan plan = planned(traced([](Trace& step) {
    const Value x = step.input("x", pair);
    step.output("y", x * cast(detail::runtime_scalar(detail::RuntimeScalar::step), DType::float32));
    step.output("total", sum(x));
  }));
  for (const double step : {1.0, 3.0}) {
    plan.run({two(1, static_cast<float>(step))}, {step});
    BOOST_TEST(plan.output(0).to_doubles() == (std::vector<double>{step, step * step}),
               boost::test_tools::per_element());
    BOOST_TEST(plan.scalar(1) == 1 + step);
  }
}

BOOST_AUTO_TEST_CASE(inputs_that_do_not_fit_are_refused) {
  detail::Plan plan = doubling();
  const std::string must = "[Plan] input 0 must be float32 (2,); got ";
  check_throws<ShapeError>(must + "float32 (3,)", [&] { plan.run({Tensor({3})}, {}); });
  check_throws<ShapeError>(must + "float32 (2, 1)", [&] { plan.run({Tensor({2, 1})}, {}); });
  check_throws<ShapeError>(must + "float64 (2,)", [&] { plan.run({Tensor({2}, DType::float64)}, {}); });
  check_throws<ShapeError>(must + "nothing", [&] { plan.run({}, {}); });
  check_throws<ValueError>("[Plan] takes 1 inputs and 0 numbers; got 2 and 0", [&] {
    plan.run({two(1, 2), two(1, 2)}, {});
  });
  check_throws<ValueError>("[Plan] takes 1 inputs and 0 numbers; got 1 and 1", [&] { plan.run({two(1, 2)}, {5}); });
}

BOOST_AUTO_TEST_CASE(outputs_may_be_what_was_put_in) {
  const auto variable = make_variable("w", two(5, 6));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value x = step.input("x", pair), w = read_variable(variable);
    step.output("input", x);
    step.output("view", reshape(x, {2, 1}));
    step.output("variable", w);
    step.output("copy", cast(w, DType::bfloat16));
    step.output("constant", Value(two(7, 8)));
    step.output("twice", x);
  }));
  plan.run({two(1, 2)}, {});
  const Tensor twos = two(1, 2);
  BOOST_TEST(plan.output(0).equal(twos));
  BOOST_TEST(plan.output(1).equal(twos.reshape({2, 1})));
  BOOST_TEST(plan.output(2).equal(two(5, 6)));
  BOOST_TEST(plan.output(3).equal(two(5, 6).cast(DType::bfloat16)));
  BOOST_TEST(plan.output(4).equal(two(7, 8)));
  BOOST_TEST(plan.output(5).equal(twos));
}

BOOST_AUTO_TEST_CASE(an_output_of_a_variable_is_what_the_step_read) {
  const auto moved = make_variable("moved", two(1, 2)), stepped = make_variable("stepped", two(3, 4));
  detail::Plan plan = planned(traced([&](Trace& step) {
    for (const auto& variable : {moved, stepped}) {
      step.output(variable->name, read_variable(variable));
      step.output(variable->name, cast(read_variable(variable), DType::bfloat16));
    }
    update_variable(moved, read_variable(moved) * 10);
    update_by_sgd(stepped, step.input("g", pair));
  }));
  plan.run({two(2, 2)}, {});
  for (const std::size_t i : {0U, 1U}) {
    BOOST_TEST(plan.output(i).cast(DType::float32).equal(two(1, 2)));
    BOOST_TEST(plan.output(2 + i).cast(DType::float32).equal(two(3, 4)));
  }
  BOOST_TEST(moved->value.equal(two(10, 20)));
  BOOST_TEST(stepped->value.equal(two(2, 3)));
}

BOOST_AUTO_TEST_CASE(outputs_outlive_the_inputs) {
  detail::Plan plan = planned(traced([](Trace& step) { step.output("y", reshape(step.input("x", pair), {1, 2})); }));
  {
    Tensor x = two(1, 2);
    plan.run({x}, {});
    x.mutable_data<float>()[0] = 9;
  }
  BOOST_TEST(plan.output(0).equal(two(1, 2).reshape({1, 2})));
}

BOOST_AUTO_TEST_CASE(plans_share_an_arena) {
  const auto arena = std::make_shared<Arena>();
  const auto big_step = [](const Values& x) { return Values{exp(x[0]) + x[0]}; };
  const Tensor small = two(1, 2), large = random_tensor({1 << 20});
  detail::Plan first(run_passes(trace_step(big_step, {small})), arena);
  detail::Plan second(run_passes(trace_step(big_step, {large})), arena);
  first.run({small}, {});
  const Tensor before = first.output(0);
  second.run({large}, {});  // the arena grows
  first.run({small}, {});
  BOOST_TEST(first.output(0).equal(before));
  BOOST_TEST(arena->bytes() >= std::max(first.arena_bytes(), second.arena_bytes()));
}

BOOST_AUTO_TEST_CASE(empty_arrays) {
  const auto step = [](const Values& x) { return Values{exp(x[0]) * 2, sum(x[0])}; };
  const Tensor nothing({0, 3});
  const TensorList out = run_compiled(trace_step(step, {nothing}), {nothing});
  BOOST_TEST(out[0].shape() == (Shape{0, 3}), boost::test_tools::per_element());
  BOOST_TEST(out[1].item() == 0);
}

BOOST_AUTO_TEST_CASE(a_variable_that_was_converted_since_is_refused) {
  const auto variable = make_variable("w", two(1, 2));
  detail::Plan plan = planned(traced([&](Trace& step) { step.output("y", read_variable(variable) * 2); }));
  variable->convert(DType::bfloat16);
  check_throws<DTypeError>("[Variable \"w\"] must be float32 as it was when the step was compiled; got bfloat16",
                           [&] { plan.run({}, {}); });
  variable->convert(DType::float32);
  plan.run({}, {});
  BOOST_TEST(plan.output(0).equal(two(2, 4)));
}

BOOST_AUTO_TEST_CASE(rows_tell_ops_layers_kernels_and_bytes) {
  const Graph graph = traced([](Trace& step) {
    const Value x = step.input("x", Spec{{4, 8}, DType::float64});
    const detail::Scope scope({std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Dense", "", {}, true}), "dense"});
    step.output("y", exp(x));
  });
  const std::vector<detail::Plan::Row> rows = planned(graph).rows();
  BOOST_TEST_REQUIRE(rows.size() == 1U);
  BOOST_TEST(rows[0].op == "exp");
  BOOST_TEST(rows[0].path == "dense");
  BOOST_TEST(rows[0].outputs == "float64 (4, 8)");
  BOOST_TEST(rows[0].bytes == 2 * 4 * 8 * 8U);
  const detail::ChosenKernel chosen =
      choose_kernel({&find_op("exp"), {}, {{{4, 8}, DType::float64}}, {{{4, 8}, DType::float64}}, "[exp]"});
  BOOST_TEST(rows[0].kernel == chosen.implementation);
  BOOST_TEST(rows[0].declined == chosen.declined, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
