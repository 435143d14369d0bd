#include <boost/test/unit_test.hpp>

#include <mezzo/ops/recurrence.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// A recurrent layer and the gradients of both kernels. The product of the inputs sums over enough rows for the kernel
// of outer products.
struct Step {
  std::string kind = "lstm";
  std::int64_t batch = 32, steps = 130, features = 40, units = 128;
  bool of_inputs = true, initial = false;
  DType dtype = DType::float32;

  std::int64_t width() const { return units * (kind == "lstm" ? 4 : kind == "gru" ? 3 : 1); }
  TensorList operands() const {
    return {random_tensor({batch, steps, features}, dtype, 1), random_tensor({features, width()}, dtype, 2, -0.1, 0.1),
            random_tensor({units, width()}, dtype, 3, -0.1, 0.1)};
  }

  Graph trace() const {
    Trace step(Trace::Mode::graph, true);
    Values in;
    for (const Tensor& operand : operands()) {
      in.push_back(step.input("x" + std::to_string(in.size()), Spec{operand.shape(), dtype}));
    }
    RecurrenceOptions options{.kind = kind};
    const std::size_t states = kind == "lstm" ? 2 : 1;
    for (std::size_t i = 0; initial && i < states; ++i) {
      options.initial_state.emplace_back(random_tensor({batch, units}, dtype, 4 + i));
    }
    const Value last = recurrence(matmul(in[0], in[1]), in[2], options).last_states[0];
    const Value loss = sum(cast(last, DType::float32) * random_tensor(last.shape(), DType::float32, 9));
    const Values of_loss = gradients(loss, of_inputs ? Values{in[1], in[2]} : Values{in[2]});
    for (std::size_t i = 0; i < of_loss.size(); ++i) step.output("gradient" + std::to_string(i), of_loss[i]);
    return step.graph();
  }

  TensorList run(bool fuse) const {
    detail::Plan plan = planned(trace(), fuse);
    plan.run(operands(), {});
    return {plan.output(0), plan.output(1)};
  }
};

// Numbers of products of two matrices, and of nodes of recurrent kernels that compute both gradients.
std::pair<std::int64_t, std::int64_t> products_and_joined(const Step& step) {
  const Graph graph = run_passes(step.trace());
  std::int64_t joined = 0;
  for (const detail::NodePtr& node : graph.nodes)
    joined += node->outputs.size() == 2 && node->attributes.has("projected");
  return {count_nodes(graph, "matmul"), joined};
}

using Counts = std::pair<std::int64_t, std::int64_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(fusing_recurrent_gradients)

BOOST_AUTO_TEST_CASE(gradients_of_both_kernels_are_joined) {
  for (const char* kind : {"lstm", "simple_rnn"}) {
    for (const bool initial : {false, true}) {
      Step step{.kind = kind, .units = kind == std::string("lstm") ? 128 : 512, .initial = initial};
      BOOST_TEST_CONTEXT(kind << initial) {
        BOOST_TEST((products_and_joined(step) == Counts{1, 1}));
        const TensorList fused = step.run(true), plain = step.run(false);
        for (std::size_t i = 0; i < fused.size(); ++i) BOOST_TEST(fused[i].equal(plain[i]), "gradient " << i);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(others_are_not) {
  BOOST_TEST((products_and_joined({.of_inputs = false}) == Counts{1, 0}));
  BOOST_TEST((products_and_joined({.steps = 12}) == Counts{2, 0}));    // few rows
  BOOST_TEST((products_and_joined({.kind = "gru"}) == Counts{2, 0}));  // the cotangents of the products differ
  BOOST_TEST((products_and_joined({.dtype = DType::bfloat16}) == Counts{3, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
