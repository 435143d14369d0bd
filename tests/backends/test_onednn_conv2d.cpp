#include <boost/test/unit_test.hpp>

#include <cstdlib>

#include <mezzo/backends/onednn/implementations.hpp>

#include "support/onednn.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Layer {
  std::int64_t batch, height, width, in, out;  // channels of one group
  Shape kernel = {3, 3}, strides = {1, 1}, padding = {0, 0, 0, 0}, dilation = {1, 1};
  std::int64_t groups = 1;
  int bias = 0;  // 1: in float32, 2: in the operands' dtype
  bool relu = false;
};

Shape output_of(const Layer& l) {
  const auto size = [&](std::int64_t room, std::size_t i) {
    const std::int64_t reach = l.dilation[i] * (l.kernel[i] - 1) + 1;
    return (room + l.padding[2 * i] + l.padding[2 * i + 1] - reach) / l.strides[i] + 1;
  };
  return {l.batch, size(l.height, 0), size(l.width, 1), l.groups * l.out};
}

/// Checks conv2d and both gradients, with each output dtype of the gradients.
void check(const Layer& l, DType dtype) {
  const Shape x{l.batch, l.height, l.width, l.groups * l.in};
  const Shape kernel{l.kernel[0], l.kernel[1], l.in, l.groups * l.out};
  const Shape y = output_of(l);
  const Attributes geometry{
      {"strides", l.strides}, {"padding", l.padding}, {"dilation", l.dilation}, {"groups", l.groups}};
  const auto compare = [](const OneDnnCase& c, std::int64_t depth) {
    BOOST_TEST_CONTEXT(c.describe()) { BOOST_TEST(compare_with_reference(c, static_cast<double>(depth)) == ""); }
  };
  OneDnnCase forward{"conv2d", geometry, {x, kernel}, {dtype, dtype}};
  forward.attributes.set("epilogue", l.relu ? detail::Epilogue::relu : detail::Epilogue::none);
  if (l.bias > 0) {
    forward.shapes.push_back({y[3]});
    forward.dtypes.push_back(l.bias == 1 ? DType::float32 : dtype);
  }
  const std::int64_t taps = l.kernel[0] * l.kernel[1];
  compare(forward, taps * l.in);
  for (const DType out : {dtype, DType::float32}) {
    Attributes of_x = geometry, of_kernel = geometry;
    of_x.set("shape", x);
    of_kernel.set("shape", kernel);
    for (Attributes* attributes : {&of_x, &of_kernel}) attributes->set("dtype", out);
    compare({"conv2d_input_gradient", of_x, {y, kernel}, {dtype, dtype}}, taps * l.out);
    compare({"conv2d_kernel_gradient", of_kernel, {x, y}, {dtype, dtype}}, y[0] * y[1] * y[2]);
    if (dtype == DType::float32) break;
  }
}

/// Picks from lists by a generator with a fixed seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  template <class T>
  T pick(const std::vector<T>& values) {
    return values[philox(seed_, count_++)[0] % values.size()];
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

Layer random_layer(Dice& dice) {
  using Sizes = std::vector<std::int64_t>;
  const auto size = [&](const Sizes& sizes) { return dice.pick(sizes); };
  Layer l{size({1, 2, 3}), size({9, 10, 13}), size({8, 11, 12}), size({1, 2, 3, 16, 20}), size({1, 4, 16, 33})};
  l.kernel = dice.pick<Shape>({{1, 1}, {2, 2}, {3, 3}, {4, 4}, {1, 3}, {3, 2}});
  l.strides = dice.pick<Shape>({{1, 1}, {2, 2}, {3, 3}, {1, 2}, {3, 1}});
  l.padding = dice.pick<Shape>({{0, 0, 0, 0}, {1, 1, 1, 1}, {0, 1, 0, 1}, {2, 0, 1, 2}});
  l.dilation = dice.pick<Shape>({{1, 1}, {1, 1}, {2, 2}, {1, 2}});
  l.groups = size({1, 1, 1, 2, 3});
  if (size({0, 1, 2, 3, 4}) == 0) {  // depthwise
    l.groups = size({2, 16, 20});
    l.in = 1;
    l.out = size({1, 2});
  }
  l.bias = static_cast<int>(size({0, 1, 2}));
  l.relu = size({0, 1}) == 1;
  return l;
}

void check_random_layers(DType dtype) {
  Dice dice(7);
  const int count = std::getenv("MEZZO_TEST_SMALL") != nullptr ? 12 : 40;
  for (int i = 0; i < count; ++i) check(random_layer(dice), dtype);
}

void check_chosen_layers(DType dtype) {
  check({8, 28, 28, 1, 32, {3, 3}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1, 1, true}, dtype);
  check({8, 13, 13, 32, 64, {3, 3}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1, 1, true}, dtype);
  check({1, 30, 30, 3, 16, {7, 7}, {2, 2}, {3, 3, 3, 3}}, dtype);
  check({2, 14, 14, 32, 64, {3, 3}, {2, 2}, {0, 1, 0, 1}}, dtype);
  // For this one, oneDNN's first choice for the kernel gradient writes past the end of its scratchpad.
  check({1, 56, 56, 8, 16, {1, 1}, {2, 2}}, dtype);
  check({4, 28, 28, 8, 16, {1, 1}, {2, 2}}, dtype);
  check({2, 28, 28, 2, 16, {1, 1}, {3, 3}}, dtype);
  // Depthwise, with stride.
  check({2, 28, 28, 1, 1, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 64}, dtype);
  check({1, 9, 9, 1, 1, {9, 9}}, dtype);
  check({3, 1, 1, 1, 1, {1, 1}}, dtype);
  // In bfloat16, input gradients by the turned kernel.
  check({2, 7, 6, 256, 260, {3, 3}, {1, 1}, {1, 1, 1, 1}}, dtype);
  check({1, 9, 8, 257, 256, {2, 3}, {1, 1}, {1, 0, 2, 0}}, dtype);
  check({1, 5, 5, 256, 256, {3, 3}, {1, 1}, {3, 0, 0, 0}}, dtype);  // more padding than the kernel reaches
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_conv2d)

BOOST_AUTO_TEST_CASE(chosen_layers_in_float32) { check_chosen_layers(DType::float32); }

BOOST_AUTO_TEST_CASE(chosen_layers_in_bfloat16) {
  if (!onednn_has_native_bfloat16()) return skip("needs bfloat16 in hardware");
  check_chosen_layers(DType::bfloat16);
}

BOOST_AUTO_TEST_CASE(random_layers_in_float32) { check_random_layers(DType::float32); }

BOOST_AUTO_TEST_CASE(random_layers_in_bfloat16) {
  if (!onednn_has_native_bfloat16()) return skip("needs bfloat16 in hardware");
  check_random_layers(DType::bfloat16);
}

BOOST_AUTO_TEST_SUITE_END()
