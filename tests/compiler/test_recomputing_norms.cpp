#include <boost/test/unit_test.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Two residual blocks of one convolution and norm each, then their gradients by both kernels.
struct Blocks {
  DType dtype = DType::float32;
  bool projects = false;  // the first shortcut has a norm of its own
  bool is_output = false;
  std::int64_t size = 64;
  std::int64_t kernel_size = 1;

  Value norm(const Value& x, std::uint64_t seed) const {
    const auto of = [&](std::uint64_t i, double low) {
      return random_tensor({16}, accumulation_dtype(dtype), seed + i, low, 2);
    };
    return batch_norm(x, of(0, 0.5), of(1, -1), of(2, -1), of(3, 0.5)).y;
  }
  Shape images() const { return {4, size, size, 16}; }
  Shape kernel() const { return {kernel_size, kernel_size, 16, 16}; }

  Graph trace() const {
    return traced([&](Trace& step) {
      const Value x = step.input("x", Spec{images(), dtype});
      const Value first = step.input("first", Spec{kernel(), dtype}),
                  second = step.input("second", Spec{kernel(), dtype});
      const auto conv = [](const Value& of, const Value& by) { return conv2d(of, by, {.padding = "same"}); };
      const Value y = relu(norm(conv(x, first), 1) + (projects ? norm(conv(x, second), 9) : x));
      const Value z = relu(norm(conv(y, second), 17) + y);
      if (is_output) step.output("y", y);
      const Values by = gradients(sum(z * random_tensor(images(), dtype, 40)), {first, second, x});
      for (std::size_t i = 0; i < by.size(); ++i) step.output("gradient" + std::to_string(i), by[i]);
    });
  }
  // The passes before recompute_norms() that move activations and residuals into norms.
  Graph fused() const { return simplify(fuse_batch_norm(simplify(trace()))); }
};

int computed_again(const Graph& graph) {
  int count = 0;
  for (const detail::NodePtr& node : graph.nodes) count += is(*node, find_op("batch_norm")) && node->again ? 1 : 0;
  return count;
}

TensorList run(const Graph& graph, const Blocks& blocks, std::size_t& bytes) {
  const auto arena = std::make_shared<Arena>();
  detail::Plan plan(graph, arena);
  const auto of = [&](const Shape& shape, std::uint64_t seed) {
    return random_tensor(shape, blocks.dtype, seed, -1, 2);
  };
  plan.run({of(blocks.images(), 30), of(blocks.kernel(), 31), of(blocks.kernel(), 32)}, {});
  bytes = arena->bytes();
  TensorList out;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) out.push_back(plan.output(i));
  return out;
}

void check_bits(const Blocks& blocks) {
  const Graph stored = blocks.fused(), again = recompute_norms(stored);
  std::size_t bytes_stored = 0, bytes_again = 0;
  const TensorList expected = run(stored, blocks, bytes_stored), got = run(again, blocks, bytes_again);
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(got[i].equal(expected[i]), "output " << i);
  BOOST_TEST(bytes_again <= bytes_stored);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recomputing_norms)

BOOST_AUTO_TEST_CASE(outputs_with_a_residual) {
  // Both outputs; that of the last block is read by the gradient of its norm.
  BOOST_TEST(computed_again(recompute_norms(Blocks{}.fused())) == 2);
  BOOST_TEST(computed_again(run_passes(Blocks{}.trace())) == 2);
  for (const DType dtype : {DType::float32, DType::bfloat16}) check_bits({.dtype = dtype});
}

BOOST_AUTO_TEST_CASE(residuals_that_are_norms) {
  const Blocks blocks{.projects = true};
  BOOST_TEST(computed_again(recompute_norms(blocks.fused())) == 3);
  check_bits(blocks);
}

BOOST_AUTO_TEST_CASE(outputs_that_stay) {
  BOOST_TEST(computed_again(recompute_norms(Blocks{.size = 32}.fused())) == 0);         // less than 1 MiB
  BOOST_TEST(computed_again(recompute_norms(Blocks{.is_output = true}.fused())) == 1);  // the second block's
}

BOOST_AUTO_TEST_SUITE_END()
