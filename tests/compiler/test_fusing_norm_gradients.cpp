#include <boost/test/unit_test.hpp>

#include <mezzo/core/isa.hpp>
#include <mezzo/core/parallel.hpp>

#include "compiler/steps.hpp"
#include "support/precision.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t channels = 8, filters = 64;

// A 1 x 1 convolution, a norm and relu6, with the gradients of the input, the kernel and gamma. The arrays of `large`
// images exceed the caches.
struct Step {
  bool large = true;
  std::int64_t taps = 1, stride = 1;
  bool of_input = true, read_by_others = false;

  Shape images() const { return {4, large ? 128 : 16, 130, channels}; }
  Shape kernel() const { return {taps, taps, channels, filters}; }

  Graph trace() const {
    Trace step(Trace::Mode::graph, true);
    const auto of = [&](std::uint64_t seed, double low, double high) {
      return Value(random_tensor({filters}, DType::float32, seed, low, high));
    };
    const Value x = step.input("x", Spec{images(), DType::float32}) * 1.0;
    const Value weights = step.input("kernel", Spec{kernel(), DType::float32});
    const Value gamma = of(1, 1, 3) * 1.0, y = conv2d(x, weights, {.strides = stride, .padding = "same"});
    const Value out = relu6(batch_norm(y, gamma, of(2, 0, 4), of(3, -1, 1), of(4, 0.5, 2)).y);
    const Value loss = sum(out * random_tensor(out.shape(), DType::float32, 5));
    Values sources{weights, gamma};
    if (of_input) sources.push_back(x);
    if (read_by_others) sources.push_back(y);
    const Values of_loss = gradients(loss, sources);
    for (std::size_t i = 0; i < of_loss.size(); ++i) step.output("gradient" + std::to_string(i), of_loss[i]);
    return step.graph();
  }

  TensorList run(bool fuse) const {
    detail::Plan plan = planned(trace(), fuse);
    plan.run({random_tensor(images(), DType::float32, 6, -1, 2), random_tensor(kernel(), DType::float32, 7)}, {});
    return {plan.output(0), plan.output(1), plan.output(2)};
  }
};

std::int64_t joined(const Step& step) { return count_nodes(run_passes(step.trace()), "pointwise_norm_gradient"); }

// More threads keep more in their caches.
struct TwoThreads {
  const int before = thread_count();
  TwoThreads() { set_thread_count(2); }
  ~TwoThreads() { set_thread_count(before); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fusing_norm_gradients)

BOOST_AUTO_TEST_CASE(large_gradients_are_joined) {
  if (isa() < Isa::avx2) return skip("needs AVX2");
  const TwoThreads threads;
  const Graph graph = run_passes(Step{}.trace());
  BOOST_TEST(count_nodes(graph, "pointwise_norm_gradient") == 1);
  for (const char* op : {"batch_norm_gradient", "conv2d_input_gradient", "conv2d_kernel_gradient"}) {
    BOOST_TEST(count_nodes(graph, op) == 0, op);
  }
  const TensorList fused = Step{}.run(true), plain = Step{}.run(false);
  for (std::size_t i = 0; i < fused.size(); ++i) {
    double largest = 0;
    for (const double number : plain[i].to_doubles()) largest = std::max(largest, std::abs(number));
    // Sums over 66,560 pixels in another order.
    BOOST_TEST(largest_difference(fused[i], plain[i]) <= 64 * ulp(DType::float32, largest), "gradient " << i);
  }
}

BOOST_AUTO_TEST_CASE(others_are_not) {
  const TwoThreads threads;
  BOOST_TEST(joined({.large = false}) == 0);
  BOOST_TEST(joined({.taps = 3}) == 0);
  BOOST_TEST(joined({.stride = 2}) == 0);
  BOOST_TEST(joined({.of_input = false}) == 0);
  BOOST_TEST(joined({.read_by_others = true}) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
