#include <boost/test/unit_test.hpp>

#include <mezzo/compiler/live_bytes.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void output_gradients(Trace& step, const Values& by) {
  for (std::size_t i = 0; i < by.size(); ++i) step.output("gradient" + std::to_string(i), by[i]);
}

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
      output_gradients(step, by);
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

TensorList run(const Graph& graph, const TensorList& inputs) {
  detail::Plan plan(graph, std::make_shared<Arena>());
  plan.run(inputs, {});
  TensorList out;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) out.push_back(plan.output(i));
  return out;
}

std::size_t arena_bytes(const Graph& graph) { return detail::Plan(graph, std::make_shared<Arena>()).arena_bytes(); }

void check_same_bits(const Graph& graph, const Graph& stored, const TensorList& inputs) {
  const TensorList expected = run(stored, inputs), got = run(graph, inputs);
  for (std::size_t i = 0; i < expected.size(); ++i) BOOST_TEST(got[i].equal(expected[i]), "output " << i);
}

// Random images and kernels.
TensorList random_inputs(const Blocks& blocks, std::size_t kernels) {
  TensorList out{random_tensor(blocks.images(), blocks.dtype, 30, -1, 2)};
  for (std::size_t i = 0; i < kernels; ++i) {
    out.push_back(random_tensor(blocks.kernel(), blocks.dtype, 31 + i, -1, 2));
  }
  return out;
}

void check_bits(const Blocks& blocks) {
  const Graph stored = blocks.fused(), again = recompute_norms(stored);
  BOOST_TEST(computed_again(again) > 0);
  check_same_bits(again, stored, random_inputs(blocks, 2));
  BOOST_TEST(arena_bytes(again) <= arena_bytes(stored));
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
    output_gradients(step, gradients(sum(y * y), step.graph().inputs));
  });
}

// `count` residual blocks of a convolution and a norm, and the gradients of all inputs.
Graph residual_chain(std::size_t count) {
  const Blocks blocks{};
  return traced([&](Trace& step) {
    Value y = step.input("x", Spec{blocks.images(), blocks.dtype});
    for (std::size_t i = 0; i < count; ++i) {
      const Value kernel = step.input("kernel" + std::to_string(i), Spec{blocks.kernel(), blocks.dtype});
      y = relu(blocks.norm(conv2d(y, kernel, {.padding = "same"}), 10 * i) + y);
    }
    output_gradients(step, gradients(sum(y * y), step.graph().inputs));
  });
}

// A norm and ReLU, then max pooling or another norm, and the gradient of the input.
Graph stem(DType dtype, bool pools) {
  return traced([&](Trace& step) {
    const Blocks of{.dtype = dtype};
    const Value x = step.input("x", Spec{{4, 96, 96, 16}, dtype}), y = relu(of.norm(x, 1));
    const Value z = pools ? max_pool2d(y) : of.norm(y, 5);
    step.output("gradient", gradients(sum(z * z), {x})[0]);
  });
}

Graph fused(const Graph& graph) { return simplify(fuse_batch_norm(simplify(graph))); }

}  // namespace

BOOST_AUTO_TEST_SUITE(recomputing_norms)

BOOST_AUTO_TEST_CASE(outputs_with_a_residual) {
  // Both outputs, of which the first is the residual of the last and computed twice. The gradient of the last norm
  // reads that of the last block.
  BOOST_TEST(computed_again(recompute_norms(Blocks{}.fused())) == 3);
  BOOST_TEST(computed_again(run_passes(Blocks{}.trace())) == 3);
  check_bits({});
  check_bits({.dtype = DType::bfloat16, .size = 96});
  check_bits({.activation = relu6});
}

BOOST_AUTO_TEST_CASE(residuals_that_are_norms) {
  const Blocks blocks{.projects = true};
  BOOST_TEST(computed_again(recompute_norms(blocks.fused())) == 5);  // the last one, and two twice
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
  // The gradient of the norm computes the output from its own input anyway. That of a second norm reads it as input.
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    BOOST_TEST(computed_again(recompute_norms(fused(stem(dtype, true)))) == 0, dtype_name(dtype));
    BOOST_TEST(computed_again(recompute_norms(fused(stem(dtype, false)))) == 1, dtype_name(dtype));
  }
}

BOOST_AUTO_TEST_CASE(saves_the_outputs_of_a_chain) {
  const Shape images{4, 64, 64, 16};
  const Graph stored = fused(chain(images)), again = recompute_norms(stored);
  BOOST_TEST(computed_again(again) == 5);
  const auto output = static_cast<std::size_t>(element_count(images)) * sizeof(float);
  BOOST_TEST(arena_bytes(again) + 3 * output <= arena_bytes(stored));  // of five, less what is live at the peak
}

BOOST_AUTO_TEST_CASE(few_residuals_of_a_long_chain_stay) {
  const std::size_t count = 9;
  const Graph stored = fused(residual_chain(count)), again = recompute_norms(stored);
  // The last output needs 9 norms; those before it 8, of which numbers 3 and 6 stay, then 1, 2, 1, 2 and 1.
  BOOST_TEST(computed_again(again) == 24);
  BOOST_TEST(computed_again(simplify(again)) == 24);
  BOOST_TEST(peak_of_live_bytes(again) < peak_of_live_bytes(stored));
  check_same_bits(again, stored, random_inputs({}, count));
}

BOOST_AUTO_TEST_CASE(outputs_that_stay) {
  BOOST_TEST(computed_again(recompute_norms(Blocks{.size = 32}.fused())) == 0);         // less than 1 MiB
  BOOST_TEST(computed_again(recompute_norms(Blocks{.is_output = true}.fused())) == 1);  // the second block's
  BOOST_TEST(computed_again(recompute_norms(Blocks{.is_later = true}.fused())) == 1);   // the same
}

BOOST_AUTO_TEST_SUITE_END()
