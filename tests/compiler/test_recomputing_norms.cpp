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
  Value (*activation)(const Value&) = relu;
  bool adds = true;       // residuals
  bool is_later = false;  // the first output is read after the gradients too

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
      const auto added = [&](const Value& to, const Value& residual) { return adds ? to + residual : to; };
      const Value y = activation(added(norm(conv(x, first), 1), projects ? norm(conv(x, second), 9) : x));
      const Value z = activation(added(norm(conv(y, second), 17), y));
      if (is_output) step.output("y", y);
      const Values by = gradients(sum(z * random_tensor(images(), dtype, 40)), {first, second, x});
      for (std::size_t i = 0; i < by.size(); ++i) step.output("gradient" + std::to_string(i), by[i]);
      if (is_later) step.output("later", sum(y));
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
  BOOST_TEST(computed_again(again) > 0);
  std::size_t bytes_stored = 0, bytes_again = 0;
  const TensorList expected = run(stored, blocks, bytes_stored), got = run(again, blocks, bytes_again);
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(got[i].equal(expected[i]), "output " << i);
  BOOST_TEST(bytes_again <= bytes_stored);
}

// Six convolutions of 3 x 3 taps with a norm and a ReLU each, and gradients of all inputs.
Graph chain(const Shape& images) {
  const Blocks blocks{.kernel_size = 3};
  return traced([&](Trace& step) {
    const Value x = step.input("x", Spec{images, DType::float32});
    Value y = x;
    for (std::uint64_t i = 0; i < 6; ++i) {
      const Value kernel = step.input("kernel" + std::to_string(i), Spec{blocks.kernel(), DType::float32});
      y = relu(blocks.norm(conv2d(y, kernel, {.padding = "same"}), 10 * i));
    }
    const Values by = gradients(sum(y * y), step.graph().inputs);
    for (std::size_t i = 0; i < by.size(); ++i) step.output("gradient" + std::to_string(i), by[i]);
  });
}

// A stem: norm, ReLU and max pooling, and the gradient of its input.
Graph stem(DType dtype) {
  return traced([&](Trace& step) {
    const Value x = step.input("x", Spec{{4, 96, 96, 16}, dtype});
    const Value y = max_pool2d(relu(Blocks{.dtype = dtype}.norm(x, 1)));
    step.output("gradient", gradients(sum(y * y), {x})[0]);
  });
}

Graph fused(const Graph& graph) { return simplify(fuse_batch_norm(simplify(graph))); }

std::size_t arena_bytes(const Graph& graph) { return detail::Plan(graph, std::make_shared<Arena>()).arena_bytes(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(recomputing_norms)

BOOST_AUTO_TEST_CASE(outputs_with_a_residual) {
  // Both outputs; that of the last block is read by the gradient of its norm.
  BOOST_TEST(computed_again(recompute_norms(Blocks{}.fused())) == 2);
  BOOST_TEST(computed_again(run_passes(Blocks{}.trace())) == 2);
  check_bits({});
  check_bits({.dtype = DType::bfloat16, .size = 96});
  check_bits({.activation = relu6});
}

BOOST_AUTO_TEST_CASE(residuals_that_are_norms) {
  const Blocks blocks{.projects = true};
  BOOST_TEST(computed_again(recompute_norms(blocks.fused())) == 3);
  check_bits(blocks);
}

BOOST_AUTO_TEST_CASE(outputs_without_a_residual) {
  // No gradient reads that of the last block in float32. The gradient of a kernel reads that of the first, with 32
  // operations for a number with 1 x 1 taps, 288 with 3 x 3.
  const Blocks light{.adds = false}, heavy{.kernel_size = 3, .adds = false};
  BOOST_TEST(computed_again(recompute_norms(light.fused())) == 0);
  BOOST_TEST(computed_again(recompute_norms(heavy.fused())) == 1);
  check_bits(heavy);
}

BOOST_AUTO_TEST_CASE(outputs_that_no_gradient_of_a_kernel_reads) {
  // The gradient of the norm reads the output in bfloat16. In float32 it computes it from the norm's input anyway.
  BOOST_TEST(computed_again(recompute_norms(fused(stem(DType::bfloat16)))) == 1);
  BOOST_TEST(computed_again(recompute_norms(fused(stem(DType::float32)))) == 0);
}

BOOST_AUTO_TEST_CASE(saves_the_outputs_of_a_chain) {
  const Shape images{4, 64, 64, 16};
  const Graph stored = fused(chain(images)), again = recompute_norms(stored);
  BOOST_TEST(computed_again(again) == 5);
  const auto output = static_cast<std::size_t>(element_count(images)) * sizeof(float);
  BOOST_TEST(arena_bytes(again) + 3 * output <= arena_bytes(stored));  // of five, less what is live at the peak
}

BOOST_AUTO_TEST_CASE(outputs_that_stay) {
  BOOST_TEST(computed_again(recompute_norms(Blocks{.size = 32}.fused())) == 0);         // less than 1 MiB
  BOOST_TEST(computed_again(recompute_norms(Blocks{.is_output = true}.fused())) == 1);  // the second block's
  BOOST_TEST(computed_again(recompute_norms(Blocks{.is_later = true}.fused())) == 1);   // the same
}

BOOST_AUTO_TEST_SUITE_END()
