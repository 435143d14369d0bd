#include <boost/test/unit_test.hpp>

#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

#include "support/runs.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Tensor ones({400}, std::vector<float>(400, 1.0F));

detail::Frame frame(const std::string& entry, bool trainable = true) {
  return {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Dropout", "", {}, trainable}), entry};
}

// What one layer's two calls drop, at a seed and step.
TensorList two_calls(const std::string& path, double seed, double step) {
  Trace trace(Trace::Mode::eager, true);
  trace.runtime_values[{detail::RuntimeScalar::seed}] = seed;
  trace.runtime_values[{detail::RuntimeScalar::step}] = step;
  const detail::Scope scope(frame(path));
  return {dropout(ones, 0.5).tensor(), dropout(ones, 0.5).tensor()};
}

// Weights of attention after dropout: queries and keys of zero give each key the same weight, and the values are the
// rows of the identity, so that the output is the matrix of weights.
Tensor attention_weights(const Value& identity) {
  const Value zeros(Tensor({1, 20, 1, 20}));
  return dot_product_attention(zeros, zeros, identity, {.dropout = 0.5}).tensor();
}

// Weights that two calls of attention in one layer leave.
TensorList two_attentions(const std::string& path, double seed, double step) {
  Tensor identity({1, 20, 1, 20});
  for (std::int64_t i = 0; i < 20; ++i) identity.mutable_data<float>()[21 * i] = 1;
  Trace trace(Trace::Mode::eager, true);
  trace.runtime_values[{detail::RuntimeScalar::seed}] = seed;
  trace.runtime_values[{detail::RuntimeScalar::step}] = step;
  const detail::Scope scope(frame(path));
  return {attention_weights(identity), attention_weights(identity)};
}

// What two calls drop depends on the path, the call, the seed and the step.
void check_dependence(TensorList (*two)(const std::string& path, double seed, double step)) {
  const TensorList base = two("a", 1, 2), again = two("a", 1, 2);
  for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(base[i].equal(again[i]));
  BOOST_TEST(!base[0].equal(base[1]));
  BOOST_TEST(!base[0].equal(two("b", 1, 2)[0]));
  BOOST_TEST(!base[0].equal(two("a", 3, 2)[0]));
  BOOST_TEST(!base[0].equal(two("a", 1, 3)[0]));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dropping)

BOOST_AUTO_TEST_CASE(depends_on_path_call_seed_and_step_only) { check_dependence(two_calls); }

BOOST_AUTO_TEST_CASE(attention_depends_on_path_call_seed_and_step_only) {
  check_dependence(two_attentions);
  // Seed and step are different inputs.
  BOOST_TEST(!two_attentions("a", 1, 2)[0].equal(two_attentions("a", 2, 1)[0]));
}

BOOST_AUTO_TEST_CASE(needs_no_new_plan_from_step_to_step) {
  Trace trace(Trace::Mode::graph, true);
  const Value x = trace.input("x", Spec{ones.shape(), ones.dtype()});
  {
    const detail::Scope scope(frame("a"));
    trace.output("y", dropout(x, 0.5));
  }
  detail::Plan plan(run_passes(trace.graph()), std::make_shared<Arena>());
  BOOST_TEST((plan.runtime_keys() ==
              std::vector<detail::RuntimeKey>{{detail::RuntimeScalar::seed}, {detail::RuntimeScalar::step}}));
  for (const double step : {2.0, 3.0}) {
    plan.run({ones}, {1, step});
    BOOST_TEST(plan.output(0).equal(two_calls("a", 1, step)[0]));
  }
}

BOOST_AUTO_TEST_CASE(happens_in_training_only_and_changes_no_dtype) {
  for (const bool training : {false, true}) {
    for (const double rate : {0.0, 0.5}) {
      Trace trace(Trace::Mode::graph, training);
      const detail::PolicyScope scope("mixed_bfloat16");
      const Value x = trace.input("x", Spec{ones.shape(), ones.dtype()});
      BOOST_TEST((dropout(x.across_border(), rate).dtype() == DType::bfloat16));
      BOOST_TEST((dropout(x, rate).dtype() == DType::float32));
      BOOST_TEST(count_nodes(trace.graph(), "dropout") == (training && rate > 0 ? 2 : 0));
    }
  }
  BOOST_TEST(dropout(ones, 0.5).tensor().equal(ones));
}

BOOST_AUTO_TEST_SUITE_END()
