#include <boost/test/unit_test.hpp>

#include <limits>

#include <mezzo/graph/op_registry.hpp>

#include "compiler/steps.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Spec pair{{2}, DType::float32};
const Spec flag{{}, DType::boolean};

Tensor two(float a, float b) { return {{2}, std::vector<float>{a, b}}; }
Tensor truth(bool x) { return Tensor::scalar(x ? 1 : 0, DType::boolean); }

}  // namespace

BOOST_AUTO_TEST_SUITE(updates)

BOOST_AUTO_TEST_CASE(are_committed_and_counted) {
  const auto a = make_variable("a", two(1, 2)), b = make_variable("b", Tensor({2}, DType::bfloat16));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value x = step.input("x", pair);
    update_variable(a, read_variable(a) + x);
    update_variable(b, x * 3);
  }));
  const std::uint64_t version = a->version;
  for (int i = 0; i < 2; ++i) plan.run({two(1, 10)}, {});
  BOOST_TEST(a->value.equal(two(3, 22)));
  BOOST_TEST(a->version == version + 2);
  BOOST_TEST(b->value.equal(two(3, 30).cast(DType::bfloat16)));
  BOOST_TEST(plan.committed(-1));
  BOOST_TEST(plan.committed(5));
}

BOOST_AUTO_TEST_CASE(read_what_was_there_before_the_step) {
  const auto a = make_variable("a", two(1, 2)), b = make_variable("b", two(3, 4)), c = make_variable("c", two(5, 6));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value old_a = read_variable(a), old_b = read_variable(b);
    update_variable(a, old_b);
    update_variable(b, reshape(reshape(old_a, {2, 1}), {2}));
    update_variable(c, step.input("x", pair));
  }));
  plan.run({two(7, 8)}, {});
  BOOST_TEST(a->value.equal(two(3, 4)));
  BOOST_TEST(b->value.equal(two(1, 2)));
  BOOST_TEST(c->value.equal(two(7, 8)));
}

BOOST_AUTO_TEST_CASE(outside_holders_of_a_variables_array_keep_their_numbers) {
  const auto a = make_variable("a", two(1, 2)), b = make_variable("b", two(1, 2));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value g = step.input("g", pair);
    update_by_sgd(a, g);
    update_variable(b, read_variable(b) + g);
  }));
  const Tensor held_a = a->value, held_b = b->value;
  plan.run({held_a}, {});
  BOOST_TEST(held_a.equal(two(1, 2)));
  BOOST_TEST(held_b.equal(two(1, 2)));
  BOOST_TEST(a->value.equal(two(0.5, 1)));
  BOOST_TEST(b->value.equal(two(2, 4)));
}

// w1's update reads w2 and the other way round; in place, the second would read what the first wrote.
BOOST_AUTO_TEST_CASE(of_optimizers_do_not_see_each_other) {
  const auto w1 = make_variable("w1", two(1, 2)), w2 = make_variable("w2", two(10, 20));
  const auto w3 = make_variable("w3", two(3, 5));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value old1 = step.read(w1), old2 = step.read(w2);
    update_by_sgd(w1, reshape(reshape(old2, {2, 1}), {2}));
    update_by_sgd(w2, cast(old1, DType::bfloat16));
    update_by_sgd(w3, cast(step.read(w3), DType::bfloat16));
  }));
  plan.run({}, {});
  BOOST_TEST(w1->value.equal(two(-4, -8)));
  BOOST_TEST(w2->value.equal(two(9.5, 19)));
  BOOST_TEST(w3->value.equal(two(1.5, 2.5)));
}

BOOST_AUTO_TEST_CASE(of_slots_happen_only_if_they_are_asked_for) {
  const auto w = make_variable("w", two(1, 2)), m = make_variable("m", two(4, 8));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Values out = insert(
        find_op("sgd_update"),
        {read_variable(w), step.input("g", pair), read_variable(m), Value(float64_scalar(1)), Value(float64_scalar(1))},
        {{"momentum", 0.5}, {"weight_decay", 0.0}, {"clipvalue", 0.0}, {"nesterov", false}});
    update_variable(w, out[0]);
  }));
  plan.run({two(1, 1)}, {});
  BOOST_TEST(w->value.equal(two(2, 5)));
  BOOST_TEST(m->value.equal(two(4, 8)));
  BOOST_TEST(m->version == 1U);
}

BOOST_AUTO_TEST_CASE(of_a_variable_that_the_step_goes_on_with) {
  const auto w = make_variable("w", two(1, 2));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value g = step.input("g", pair);
    update_by_sgd(w, g);
    step.output("new", read_variable(w) * 1);
    update_by_sgd(w, g);  // of the new value
  }));
  plan.run({two(2, 4)}, {});
  BOOST_TEST(plan.output(0).equal(two(0, 0)));
  BOOST_TEST(w->value.equal(two(-1, -2)));
  BOOST_TEST(w->version == 2U);
}

BOOST_AUTO_TEST_CASE(wait_for_their_gate) {
  const auto moved = make_variable("moved", two(1, 2)), stepped = make_variable("stepped", two(1, 2));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value g = step.input("g", pair);
    update_variable(moved, read_variable(moved) + g);
    update_by_sgd(stepped, g);
    step.output("g", g * 1);
    step.gate({.ok = step.input("open", flag)});
  }));
  plan.run({two(2, 2), truth(false)}, {});
  BOOST_TEST(!plan.committed(-1));
  BOOST_TEST(plan.output(0).equal(two(2, 2)));  // the step is skipped, its outputs are there
  for (const auto& variable : {moved, stepped}) {
    BOOST_TEST(variable->value.equal(two(1, 2)));
    BOOST_TEST(variable->version == 1U);
  }
  plan.run({two(2, 2), truth(true)}, {});
  BOOST_TEST(plan.committed(-1));
  BOOST_TEST(moved->value.equal(two(3, 4)));
  BOOST_TEST(stepped->value.equal(two(0, 1)));
}

BOOST_AUTO_TEST_CASE(of_groups_wait_for_their_own_gates) {
  const auto first = make_variable("first", two(0, 0)), second = make_variable("second", two(0, 0));
  const auto common = make_variable("common", two(0, 0)), stepped = make_variable("stepped", two(0, 0));
  const auto run = [&](bool open_first, bool open_second) {
    for (const auto& variable : {first, second, common, stepped}) variable->assign(two(0, 0));
    detail::Plan plan = planned(traced([&](Trace& step) {
      const Value one = step.input("x", pair);
      step.gate({.ok = step.input("a", flag), .group = 0});
      step.gate({.ok = step.input("b", flag), .group = 1});
      update_variable(common, read_variable(common) + one);
      step.update_group = 0;
      update_variable(first, read_variable(first) + one);
      step.update_group = 1;
      update_variable(second, read_variable(second) + one);
      update_by_sgd(stepped, one);
    }));
    plan.run({two(1, 1), truth(open_first), truth(open_second)}, {});
    BOOST_TEST(plan.committed(0) == open_first);
    BOOST_TEST(plan.committed(1) == open_second);
    BOOST_TEST(plan.committed(-1) == (open_first && open_second));
    BOOST_TEST(first->value.data<float>()[0] == (open_first ? 1 : 0));
    BOOST_TEST(second->value.data<float>()[0] == (open_second ? 1 : 0));
    BOOST_TEST(stepped->value.data<float>()[0] == (open_second ? -0.5F : 0));
    BOOST_TEST(common->value.data<float>()[0] == (open_first && open_second ? 1 : 0));
  };
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) run(a, b);
  }
}

BOOST_AUTO_TEST_CASE(do_not_happen_when_a_gate_throws) {
  const auto moved = make_variable("moved", two(1, 2)), stepped = make_variable("stepped", two(1, 2));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value g = step.input("g", pair);
    update_variable(moved, read_variable(moved) + g);
    step.update_group = 0;
    update_by_sgd(stepped, g);
    step.gate({.ok = insert_one(find_op("all_finite"), {g}),
               .group = 1,
               .on_failure = Graph::OnFailure::error,
               .error = "[Trainer] the loss is not finite"});
  }));
  const Tensor bad = two(1, std::numeric_limits<float>::quiet_NaN());
  check_throws<ValueError>(
      "[Trainer] the loss is not finite: input \"g\" holds a value that is not finite (float32); no weight was changed "
      "by "
      "this step",
      [&] { plan.run({bad}, {}); });
  for (const auto& variable : {moved, stepped}) {
    BOOST_TEST(variable->value.equal(two(1, 2)));
    BOOST_TEST(variable->version == 1U);
  }
  plan.run({two(2, 2)}, {});
  BOOST_TEST(moved->value.equal(two(3, 4)));
  BOOST_TEST(stepped->value.equal(two(0, 1)));
}

BOOST_AUTO_TEST_CASE(do_not_happen_when_a_kernel_throws) {
  const auto moved = make_variable("moved", two(1, 2)), stepped = make_variable("stepped", two(1, 2));
  detail::Plan plan = planned(traced([&](Trace& step) {
    const Value labels = step.input("y", Spec{{2}, DType::int32}),
                scores = step.input("x", Spec{{2, 3}, DType::float32});
    update_variable(moved, read_variable(moved) + 1);
    update_by_sgd(stepped, sparse_crossentropy(labels, scores, true));
  }));
  const Tensor scores({2, 3});
  BOOST_CHECK_THROW(plan.run({Tensor({2}, std::vector<std::int32_t>{0, 3}), scores}, {}), ValueError);
  BOOST_CHECK_THROW(plan.run({Tensor({2}, std::vector<std::int32_t>{-1, 0}), scores}, {}), ValueError);
  for (const auto& variable : {moved, stepped}) {
    BOOST_TEST(variable->value.equal(two(1, 2)));
    BOOST_TEST(variable->version == 1U);
  }
}

BOOST_AUTO_TEST_CASE(labels_out_of_range_are_refused_where_nobody_needs_the_loss) {
  const Graph graph = traced([](Trace& step) {
    const Value labels = step.input("y", Spec{{1}, DType::int32});
    sparse_crossentropy(labels, step.input("x", Spec{{1, 3}, DType::float32}), true);
  });
  detail::Plan plan = planned(graph);
  plan.run({Tensor({1}, std::vector<std::int32_t>{2}), Tensor({1, 3})}, {});
  BOOST_CHECK_THROW(plan.run({Tensor({1}, std::vector<std::int32_t>{3}), Tensor({1, 3})}, {}), ValueError);
}

BOOST_AUTO_TEST_CASE(assigned_variables_are_read_by_the_next_run) {
  const auto w = make_variable("w", two(1, 2));
  detail::Plan plan = planned(traced([&](Trace& step) { step.output("y", read_variable(w) * 2); }));
  plan.run({}, {});
  w->assign(two(5, 6));
  plan.run({}, {});
  BOOST_TEST(plan.output(0).equal(two(10, 12)));
}

BOOST_AUTO_TEST_SUITE_END()
