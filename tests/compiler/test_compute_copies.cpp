#include <boost/test/unit_test.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr DType narrow = DType::bfloat16;

const VariableState::Copy& copy_of(const VariablePointer& variable) {
  BOOST_REQUIRE(variable->copies.size() == 1U);
  return variable->copies.front();
}

void check_fresh(const VariablePointer& variable) {
  BOOST_TEST(copy_of(variable).version == variable->version);
  BOOST_TEST(copy_of(variable).value.equal(variable->value.cast(narrow)));
}

// What plans compute with now: the sum of the variable's low-precision copy.
double sum_of_copy(Plan& plan) {
  plan.run({}, {});
  return plan.scalar(0);
}

Graph read_in_narrow(const VariablePointer& variable) {
  return traced([&](Trace& step) {
    const PolicyScope scope("mixed_bfloat16");
    step.output("sum", sum(cast(read_variable(variable) * 1, DType::float32)));
  });
}

VariablePointer third() { return make_variable("w", Tensor({3}, std::vector<float>(3, 1.0F / 3))); }

}  // namespace

BOOST_AUTO_TEST_SUITE(compute_copies)

BOOST_AUTO_TEST_CASE(update_ops_get_another_output) {
  const DenseStep dense;
  const Graph graph = run_passes(dense.trace("mixed_bfloat16"));
  int with_copy = 0;
  for (const NodePtr& node : graph.nodes) {
    if (node->op->name != "sgd_update") continue;
    const bool of_kernel = node->inputs[0].node()->variable == dense.kernel;
    BOOST_TEST(node->attributes.has("copy_dtype") == of_kernel);  // the bias is computed with in float32
    if (!of_kernel) continue;
    ++with_copy;
    BOOST_TEST(node->outputs.size() == 3U);
    BOOST_TEST((node->outputs.back() == Spec{{3, 4}, narrow}));
  }
  BOOST_TEST(with_copy == 1);
}

BOOST_AUTO_TEST_CASE(nothing_is_copied_where_nothing_is_narrow) {
  for (const char* policy : {"float32", "float64"}) {
    const DenseStep dense;
    if (policy == std::string("float64")) {
      dense.kernel->convert(DType::float64);
      dense.bias->convert(DType::float64);
      dense.kernel_momentum->convert(DType::float64);
    }
    for (const NodePtr& node : run_passes(dense.trace(policy)).nodes) BOOST_TEST(!node->attributes.has("copy_dtype"));
  }
}

BOOST_AUTO_TEST_CASE(the_optimizer_writes_the_copy_of_the_new_variable) {
  const DenseStep dense;
  const Tensor before = dense.kernel->value;
  Plan plan = planned(dense.trace("mixed_bfloat16"));
  for (int i = 0; i < 3; ++i) {
    plan.run({DenseStep::input()}, {});
    check_fresh(dense.kernel);
  }
  BOOST_TEST(!dense.kernel->value.equal(before));
}

BOOST_AUTO_TEST_CASE(without_momentum_too) {
  const auto w = third();
  Plan plan = planned(traced([&](Trace& step) {
    const PolicyScope scope("mixed_bfloat16");
    const Value loss = sum(cast(read_variable(w) * read_variable(w), DType::float32));
    update_by_sgd(w, gradients(loss, {step.read(w)})[0]);
  }));
  plan.run({}, {});
  check_fresh(w);
  BOOST_TEST(w->value.to_doubles()[0] != 1.0 / 3);
}

BOOST_AUTO_TEST_CASE(a_fresh_copy_is_not_made_again) {
  const auto w = third();
  Plan plan = planned(read_in_narrow(w));
  sum_of_copy(plan);
  check_fresh(w);
  w->copies.front().value = Tensor({3}, std::vector<float>{1, 2, 4}).cast(narrow);
  BOOST_TEST(sum_of_copy(plan) == 7);
}

BOOST_AUTO_TEST_CASE(an_assigned_variable_refreshes_its_copy) {
  const auto w = third();
  Plan plan = planned(read_in_narrow(w));
  BOOST_TEST(sum_of_copy(plan) == 3 * w->value.cast(narrow).to_doubles()[0]);
  w->assign(Tensor({3}, std::vector<float>{5, 6, 7}));
  BOOST_TEST(sum_of_copy(plan) == 18);
  check_fresh(w);
}

BOOST_AUTO_TEST_CASE(assigned_between_training_steps_it_counts_in_the_next) {
  const DenseStep dense, other;
  Plan plan = planned(dense.trace("mixed_bfloat16")), fresh = planned(other.trace("mixed_bfloat16"));
  plan.run({DenseStep::input()}, {});
  const Tensor numbers = small_integers({3, 4}, DType::float32, 9);
  dense.kernel->assign(numbers);
  other.kernel->assign(numbers);
  other.bias->assign(dense.bias->value);
  other.kernel_momentum->assign(dense.kernel_momentum->value);
  for (Plan* each : {&plan, &fresh}) each->run({DenseStep::input()}, {});
  BOOST_TEST(plan.scalar(0) == fresh.scalar(0));
  BOOST_TEST(dense.kernel->value.equal(other.kernel->value));
  check_fresh(dense.kernel);
}

BOOST_AUTO_TEST_CASE(plans_share_the_copy) {
  const DenseStep dense;
  Plan training = planned(dense.trace("mixed_bfloat16")), reading = planned(read_in_narrow(dense.kernel));
  for (int i = 0; i < 2; ++i) {
    training.run({DenseStep::input()}, {});
    double expected = 0;
    for (const double x : dense.kernel->value.cast(narrow).to_doubles()) expected += x;
    BOOST_TEST(sum_of_copy(reading) == expected);
  }
  BOOST_TEST(dense.kernel->copies.size() == 1U);
}

BOOST_AUTO_TEST_CASE(unfused_plans_refresh_what_the_optimizer_left_stale) {
  const DenseStep fused, unfused;
  Plan one = planned(fused.trace("mixed_bfloat16"), true), other = planned(unfused.trace("mixed_bfloat16"), false);
  for (int i = 0; i < 3; ++i) {
    for (Plan* plan : {&one, &other}) plan->run({DenseStep::input()}, {});
    BOOST_TEST(one.scalar(0) == other.scalar(0));
  }
  BOOST_TEST(unfused.kernel->copies[0].version != unfused.kernel->version);
}

BOOST_AUTO_TEST_CASE(a_skipped_step_leaves_variable_and_copy_alone) {
  const auto w = third();
  Plan plan = planned(traced([&](Trace& step) {
    const PolicyScope scope("mixed_bfloat16");
    const Value open = step.input("open", Spec{{}, DType::boolean});
    const Value loss = sum(cast(read_variable(w) * read_variable(w), DType::float32));
    update_by_sgd(w, gradients(loss, {step.read(w)})[0]);
    step.gate({.ok = open});
  }));
  plan.run({Tensor::scalar(0, DType::boolean)}, {});
  BOOST_TEST(w->value.equal(third()->value));
  check_fresh(w);
  plan.run({Tensor::scalar(1, DType::boolean)}, {});
  BOOST_TEST(!w->value.equal(third()->value));
  check_fresh(w);
}

BOOST_AUTO_TEST_CASE(two_narrow_dtypes_of_one_variable) {
  const auto w = third();
  Plan plan = planned(traced([&](Trace& step) {
    const Value wide = read_variable(w).across_border(false);
    const Value loss =
        sum(cast(cast(wide, DType::float16), DType::float32)) + sum(cast(cast(wide, DType::bfloat16), DType::float32));
    update_by_sgd(w, gradients(loss, {step.read(w)})[0]);
    step.output("loss", loss);
  }));
  for (int i = 0; i < 3; ++i) {
    const double now = 3 * (w->value.cast(DType::float16).to_doubles()[0] + w->value.cast(narrow).to_doubles()[0]);
    plan.run({}, {});
    BOOST_TEST(plan.scalar(0) == now, boost::test_tools::tolerance(1e-6));
  }
  BOOST_TEST(w->copies.size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
