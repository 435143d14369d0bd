#include <boost/test/unit_test.hpp>

#include <mezzo/core/isa.hpp>

#include "compiler/steps.hpp"
#include "support/precision.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t channels = 16;

// relu6 of a norm, then a convolution, with the gradients of the input, the kernel and gamma.
struct Step {
  Shape kernel{3, 3, 1, channels};
  std::int64_t groups = channels;
  DType dtype = DType::float32;
  bool training = true;
  Value (*activation)(const Value&) = relu6;
  bool read_by_others = false;
  Shape images{2, 17, 17, channels};

  Graph trace() const {
    Trace step(Trace::Mode::graph, training);
    const DType wide = accumulation_dtype(dtype);
    const auto of = [&](std::uint64_t seed, double low, double high) {
      return Value(random_tensor({images.back()}, wide, seed, low, high));
    };
    const Value x = step.input("x", Spec{images, dtype}), weights = step.input("kernel", Spec{kernel, dtype});
    const Value gamma = of(1, 1, 3) * 1.0;
    const Value y = activation(batch_norm(x, gamma, of(2, 0, 4), of(3, -1, 1), of(4, 0.5, 2)).y);
    const Value out = conv2d(y, weights, {.padding = "same", .groups = groups});
    step.output("out", out);
    if (read_by_others) step.output("y", y);
    const Values of_loss = gradients(sum(out * random_tensor(out.shape(), dtype, 5)), {x, weights, gamma});
    for (std::size_t i = 0; i < of_loss.size(); ++i) step.output("gradient" + std::to_string(i), of_loss[i]);
    return step.graph();
  }

  TensorList run(bool fuse) const {
    detail::Plan plan = planned(trace(), fuse);
    plan.run({random_tensor(images, dtype, 6, -1, 2), random_tensor(kernel, dtype, 7)}, {});
    return {plan.output(0), plan.output(1), plan.output(2), plan.output(3)};
  }
};

std::string counts(const Step& step) {
  const Graph graph = run_passes(step.trace());
  std::string text;
  for (const char* op :
       {"batch_norm", "batch_norm_statistics", "normalized_conv2d", "normalized_conv2d_kernel_gradient"}) {
    text += (text.empty() ? "" : " ") + std::to_string(count_nodes(graph, op));
  }
  return text;
}

void check_results(const Step& step) {
  const TensorList fused = step.run(true), plain = step.run(false);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    double largest = 0;
    for (const double number : plain[i].to_doubles()) largest = std::max(largest, std::abs(number));
    // Sums of up to 578 products, which other kernels add in another order.
    BOOST_TEST(largest_difference(fused[i], plain[i]) <= 16 * ulp(step.dtype, largest), "output " << i);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fusing_normalized_inputs)

BOOST_AUTO_TEST_CASE(depthwise_convolutions_normalize_their_input) {
  BOOST_TEST(counts({}) == "0 1 1 1");
  check_results({});
  check_results({.activation = relu});
}

BOOST_AUTO_TEST_CASE(convolutions_of_1_by_1_normalize_their_input) {
  if (isa() < Isa::avx2) return skip("needs AVX2");
  const Step step{.kernel = {1, 1, channels, 24}, .groups = 1};
  BOOST_TEST(counts(step) == "0 1 1 1");
  check_results(step);
}

BOOST_AUTO_TEST_CASE(winograds_convolutions_normalize_their_input) {
  const Step step{.kernel = {3, 3, 32, 32}, .groups = 1, .images = {8, 15, 16, 32}};
  BOOST_TEST(counts(step) == "0 1 1 1");
  check_results(step);
  // The kernels see the same numbers.
  BOOST_TEST(step.run(true)[0].equal(step.run(false)[0]));
}

BOOST_AUTO_TEST_CASE(outside_of_training_too) {
  const Step step{.training = false};
  BOOST_TEST(counts(step) == "0 1 1 1");
  check_results(step);
}

BOOST_AUTO_TEST_CASE(others_read_the_output) {
  BOOST_TEST(counts({.read_by_others = true}) == "1 0 0 0");                                // an output of the step
  BOOST_TEST(counts({.kernel = {3, 3, channels, 24}, .groups = 1}) == "1 0 0 0");           // no kernel normalizes
  BOOST_TEST(counts({.dtype = DType::bfloat16}) == "1 0 0 0");                              // the output is rounded
  BOOST_TEST(counts({.dtype = DType::float64}) == "0 1 1 1");                               // by the reference
  BOOST_TEST(counts({.activation = [](const Value& x) { return x * 2.0; }}) == "1 0 0 0");  // no relu
}

BOOST_AUTO_TEST_SUITE_END()
