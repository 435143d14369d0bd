#include <boost/test/unit_test.hpp>

#include <cstring>

#include <mezzo/backends/onednn/implementations.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr DType narrow = DType::bfloat16;

using ArenaPointer = std::shared_ptr<Arena>;

detail::Plan planned_in(const ArenaPointer& arena, const Graph& graph, bool fuse = true) {
  return {run_passes(graph, {fuse}), arena};
}

// The only copy of the variable.
const ComputeCopies::Entry& copy_of(const Arena& arena, const VariablePointer& variable) {
  const ComputeCopies::Entry* found = nullptr;
  for (std::size_t i = 0; i < arena.copies.size(); ++i) {
    if (arena.copies[i].variable.lock() != variable) continue;
    BOOST_REQUIRE(found == nullptr);
    found = &arena.copies[i];
  }
  BOOST_REQUIRE(found != nullptr);
  return *found;
}

bool fresh(const Arena& arena, const VariablePointer& variable) {
  return copy_of(arena, variable).version == variable->version;
}

void check_fresh(const Arena& arena, const VariablePointer& variable) {
  BOOST_TEST(fresh(arena, variable));
  const Tensor expected = variable->value.cast(narrow);
  BOOST_TEST(std::memcmp(arena.data() + copy_of(arena, variable).offset, expected.raw(), expected.bytes()) == 0);
}

// What plans compute with now: the sum of the variable's low-precision copy.
double sum_of_copy(detail::Plan& plan) {
  plan.run({}, {});
  return plan.scalar(0);
}

double sum_in_narrow(const VariablePointer& variable) {
  double sum = 0;
  for (const double x : variable->value.cast(narrow).to_doubles()) sum += x;
  return sum;
}

Graph read_in_narrow(const VariablePointer& variable) {
  return traced([&](Trace& step) {
    const detail::PolicyScope scope("mixed_bfloat16");
    step.output("sum", sum(cast(read_variable(variable) * 1, DType::float32)));
  });
}

VariablePointer third() { return make_variable("w", Tensor({3}, std::vector<float>(3, 1.0F / 3))); }

// The sum of w squared, an update by its gradient, and a gate that the input opens.
Graph gated(const VariablePointer& w) {
  return traced([&](Trace& step) {
    const detail::PolicyScope scope("mixed_bfloat16");
    const Value open = step.input("open", Spec{{}, DType::boolean});
    const Value loss = sum(cast(read_variable(w) * read_variable(w), DType::float32));
    update_by_sgd(w, gradients(loss, {step.read(w)})[0]);
    step.output("loss", loss);
    step.gate({.ok = open});
  });
}

// Products with square weights, whose updates wait for a check of all gradients.
struct Chain {
  std::vector<VariablePointer> weights;

  Chain() {
    for (std::uint64_t i = 0; i < 6; ++i)
      weights.push_back(make_variable("w", random_tensor({64, 64}, DType::float32, i)));
  }

  Graph trace(const std::string& policy) const {
    return traced([&](Trace& step) {
      const detail::PolicyScope scope((Policy(policy)));
      Value x = step.input("x", Spec{{2, 64}, DType::float32}).across_border();
      Values reads;
      for (const VariablePointer& weight : weights) {
        x = matmul(x, read_variable(weight)) * 0.125;
        reads.push_back(step.read(weight));
      }
      const Value loss = sum(cast(x, DType::float32));
      step.output("loss", loss);
      const Values all = gradients(loss, reads);
      step.gate(
          {.ok = insert_one(find_op("all_finite"), all), .on_failure = Graph::OnFailure::error, .error = "not finite"});
      for (std::size_t i = 0; i < all.size(); ++i) update_by_sgd(weights[i], all[i]);
    });
  }

  static Tensor input() { return random_tensor({2, 64}, DType::float32, 9); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(compute_copies)

BOOST_AUTO_TEST_CASE(update_ops_get_another_output) {
  const DenseStep dense;
  const Graph graph = run_passes(dense.trace("mixed_bfloat16"));
  int with_copy = 0;
  for (const detail::NodePtr& node : graph.nodes) {
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
    for (const detail::NodePtr& node : run_passes(dense.trace(policy)).nodes)
      BOOST_TEST(!node->attributes.has("copy_dtype"));
  }
}

BOOST_AUTO_TEST_CASE(the_optimizer_writes_the_copy_of_the_new_variable) {
  const DenseStep dense;
  const Tensor before = dense.kernel->value;
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan = planned_in(arena, dense.trace("mixed_bfloat16"));
  for (int i = 0; i < 3; ++i) {
    plan.run({DenseStep::input()}, {});
    check_fresh(*arena, dense.kernel);
  }
  BOOST_TEST(!dense.kernel->value.equal(before));
}

BOOST_AUTO_TEST_CASE(without_momentum_too) {
  const auto w = third();
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan = planned_in(arena, gated(w));
  plan.run({Tensor::scalar(1, DType::boolean)}, {});
  check_fresh(*arena, w);
  BOOST_TEST(w->value.to_doubles()[0] != 1.0 / 3);
}

BOOST_AUTO_TEST_CASE(a_fresh_copy_is_not_made_again) {
  const auto w = third();
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan = planned_in(arena, read_in_narrow(w));
  sum_of_copy(plan);
  check_fresh(*arena, w);
  const Tensor other = Tensor({3}, std::vector<float>{1, 2, 4}).cast(narrow);
  std::memcpy(arena->data() + copy_of(*arena, w).offset, other.raw(), other.bytes());
  BOOST_TEST(sum_of_copy(plan) == 7);
}

BOOST_AUTO_TEST_CASE(an_assigned_variable_refreshes_its_copy) {
  const auto w = third();
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan = planned_in(arena, read_in_narrow(w));
  BOOST_TEST(sum_of_copy(plan) == 3 * w->value.cast(narrow).to_doubles()[0]);
  w->assign(Tensor({3}, std::vector<float>{5, 6, 7}));
  BOOST_TEST(sum_of_copy(plan) == 18);
  check_fresh(*arena, w);
}

BOOST_AUTO_TEST_CASE(assigned_between_training_steps_it_counts_in_the_next) {
  const DenseStep dense, other;
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan = planned_in(arena, dense.trace("mixed_bfloat16")),
               untouched = planned(other.trace("mixed_bfloat16"));
  plan.run({DenseStep::input()}, {});
  const Tensor numbers = small_integers({3, 4}, DType::float32, 9);
  dense.kernel->assign(numbers);
  other.kernel->assign(numbers);
  other.bias->assign(dense.bias->value);
  other.kernel_momentum->assign(dense.kernel_momentum->value);
  for (detail::Plan* each : {&plan, &untouched}) each->run({DenseStep::input()}, {});
  BOOST_TEST(plan.scalar(0) == untouched.scalar(0));
  BOOST_TEST(dense.kernel->value.equal(other.kernel->value));
  check_fresh(*arena, dense.kernel);
}

BOOST_AUTO_TEST_CASE(plans_of_an_arena_share_the_copy) {
  const DenseStep dense;
  const auto arena = std::make_shared<Arena>();
  detail::Plan training = planned_in(arena, dense.trace("mixed_bfloat16")),
               reading = planned_in(arena, read_in_narrow(dense.kernel));
  for (int i = 0; i < 2; ++i) {
    training.run({DenseStep::input()}, {});
    check_fresh(*arena, dense.kernel);
    BOOST_TEST(sum_of_copy(reading) == sum_in_narrow(dense.kernel));
    check_fresh(*arena, dense.kernel);
  }
  BOOST_TEST(arena->copies.size() == 1U);
}

BOOST_AUTO_TEST_CASE(another_arena_has_a_copy_of_its_own) {
  const DenseStep dense;
  detail::Plan training = planned(dense.trace("mixed_bfloat16")), reading = planned(read_in_narrow(dense.kernel));
  for (int i = 0; i < 2; ++i) {
    training.run({DenseStep::input()}, {});
    BOOST_TEST(sum_of_copy(reading) == sum_in_narrow(dense.kernel));
  }
}

BOOST_AUTO_TEST_CASE(a_plan_without_the_copy_may_overwrite_it) {
  const auto w = third();
  const auto arena = std::make_shared<Arena>();
  detail::Plan reading = planned_in(arena, read_in_narrow(w)),
               other = planned_in(arena, traced([](Trace&step) {
                                    step.output("y", exp(step.input("x", Spec{{64}, {}})));
                                  }));
  sum_of_copy(reading);
  other.run({random_tensor({64})}, {});
  BOOST_TEST(!fresh(*arena, w));
  BOOST_TEST(sum_of_copy(reading) == sum_in_narrow(w));
}

BOOST_AUTO_TEST_CASE(a_larger_arena_has_lost_the_copies) {
  const auto w = third();
  const auto arena = std::make_shared<Arena>();
  detail::Plan reading = planned_in(arena, read_in_narrow(w));
  sum_of_copy(reading);
  arena->reserve(arena->bytes() + 1);
  BOOST_TEST(!fresh(*arena, w));
  BOOST_TEST(sum_of_copy(reading) == sum_in_narrow(w));
}

// Copies of 48 KiB, gradients of 96 KiB: a gradient takes the place of copies that were read before. Without bfloat16
// in hardware, a product has scratch memory for its operands and result in float32.
BOOST_AUTO_TEST_CASE(gradients_use_the_memory_of_copies) {
  const Chain chain, apart;
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan = planned_in(arena, chain.trace("mixed_bfloat16"));
  BOOST_TEST(arena->copies.size() == chain.weights.size());
  const std::size_t scratch = onednn_has_native_bfloat16() ? 0 : std::size_t{64 * 64 + 2 * 2 * 64} * sizeof(float);
  BOOST_TEST(plan.arena_bytes() < (96 + 48 / 2) * std::size_t{1024} + scratch);
  detail::Plan unfused = planned(apart.trace("mixed_bfloat16"), false);  // its updates write no copy
  for (int i = 0; i < 3; ++i) {
    for (detail::Plan* each : {&plan, &unfused}) each->run({Chain::input()}, {});
    BOOST_TEST(plan.scalar(0) == unfused.scalar(0));
  }
  for (std::size_t i = 0; i < chain.weights.size(); ++i) {
    BOOST_TEST(chain.weights[i]->value.equal(apart.weights[i]->value), "weight " << i);
    check_fresh(*arena, chain.weights[i]);
  }
}

BOOST_AUTO_TEST_CASE(unfused_plans_refresh_what_the_optimizer_left_stale) {
  const DenseStep fused, unfused;
  const auto arena = std::make_shared<Arena>();
  detail::Plan one = planned(fused.trace("mixed_bfloat16"), true),
               other = planned_in(arena, unfused.trace("mixed_bfloat16"), false);
  for (int i = 0; i < 3; ++i) {
    for (detail::Plan* plan : {&one, &other}) plan->run({DenseStep::input()}, {});
    BOOST_TEST(one.scalar(0) == other.scalar(0));
  }
  BOOST_TEST(!fresh(*arena, unfused.kernel));
}

BOOST_AUTO_TEST_CASE(a_skipped_step_leaves_the_variable_alone) {
  const auto w = third(), other = third();
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan = planned_in(arena, gated(w)), opened = planned(gated(other));
  plan.run({Tensor::scalar(0, DType::boolean)}, {}, true);
  BOOST_TEST(w->value.equal(third()->value));
  BOOST_TEST(!fresh(*arena, w));  // a kernel may have used its memory
  for (detail::Plan* each : {&plan, &opened}) each->run({Tensor::scalar(1, DType::boolean)}, {});
  BOOST_TEST(plan.scalar(0) == opened.scalar(0));
  BOOST_TEST(!w->value.equal(third()->value));
  BOOST_TEST(w->value.equal(other->value));
  check_fresh(*arena, w);
}

BOOST_AUTO_TEST_CASE(two_narrow_dtypes_of_one_variable) {
  const auto w = third();
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan = planned_in(arena, traced([&](Trace& step) {
                                   const Value wide = read_variable(w).across_border(false);
                                   const Value loss = sum(cast(cast(wide, DType::float16), DType::float32)) +
                                                      sum(cast(cast(wide, DType::bfloat16), DType::float32));
                                   update_by_sgd(w, gradients(loss, {step.read(w)})[0]);
                                   step.output("loss", loss);
                                 }));
  for (int i = 0; i < 3; ++i) {
    const double now = 3 * (w->value.cast(DType::float16).to_doubles()[0] + w->value.cast(narrow).to_doubles()[0]);
    plan.run({}, {});
    BOOST_TEST(plan.scalar(0) == now, boost::test_tools::tolerance(1e-6));
  }
  BOOST_TEST(arena->copies.size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
