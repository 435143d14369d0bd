#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Attributes reduce_attributes(const Shape& axes, DType dtype, bool keepdims = false) {
  return {{"axes", axes}, {"keepdims", keepdims}, {"dtype", dtype}};
}

/// Sums by the definition: every element goes to the output that shares its indices along the axes that are kept.
std::vector<double> plain_sum(const Tensor& x, const Shape& axes) {
  Shape kept;
  std::vector<bool> is_kept;
  for (std::size_t axis = 0; axis < x.shape().size(); ++axis) {
    is_kept.push_back(std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) == axes.end());
    if (is_kept.back()) kept.push_back(x.shape()[axis]);
  }
  const Shape in = detail::row_major_strides(x.shape());
  const std::vector<double> elements = x.to_doubles();
  std::vector<double> sums(static_cast<std::size_t>(element_count(kept)), 0.0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::size_t to = 0;
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
      const std::int64_t size = x.shape()[axis];
      if (is_kept[axis]) {
        to = to * static_cast<std::size_t>(size) +
             static_cast<std::size_t>(static_cast<std::int64_t>(i) / in[axis] % size);
      }
    }
    sums[to] += elements[i];
  }
  return sums;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_reduce)

BOOST_AUTO_TEST_CASE(sums_over_any_axes) {
  const Tensor x = small_integers({3, 4, 1, 70}, DType::float64);
  for (int subset = 0; subset < 16; ++subset) {
    Shape axes;
    for (int axis = 0; axis < 4; ++axis) {
      if ((subset >> axis & 1) != 0) axes.push_back(axis);
    }
    const Tensor y = run_reference("sum", reduce_attributes(axes, DType::float64), {x}).front();
    BOOST_TEST((y.to_doubles() == plain_sum(x, axes)), to_string(axes));
    const Tensor kept = run_reference("sum", reduce_attributes(axes, DType::float64, true), {x}).front();
    BOOST_TEST(kept.reshape(y.shape()).equal(y));
  }
}

BOOST_AUTO_TEST_CASE(means) {
  const Tensor x = small_integers({6, 5}, DType::float32);
  const std::vector<double> sums = plain_sum(x, {0});
  const Tensor y = run_reference("mean", reduce_attributes({0}, DType::float32), {x}).front();
  for (std::size_t i = 0; i < sums.size(); ++i) BOOST_TEST(y.to_doubles()[i] == static_cast<float>(sums[i] / 6));
  const Tensor empty({0, 2}, DType::float32);
  BOOST_TEST(
      std::isnan(run_reference("mean", reduce_attributes({0}, DType::float32), {empty}).front().to_doubles()[0]));
  BOOST_TEST(run_reference("sum", reduce_attributes({0, 1}, DType::float32), {empty}).front().item() == 0);
}

BOOST_AUTO_TEST_CASE(long_sums_are_rounded_once) {
  std::vector<float> x(100000, 0.1F);
  const Tensor y = run_reference("sum", reduce_attributes({0}, DType::float32), {Tensor({100000}, x)}).front();
  BOOST_TEST(y.item() == static_cast<float>(static_cast<double>(0.1F) * 100000));
}

BOOST_AUTO_TEST_CASE(integers_are_summed_as_int64) {
  const Tensor x({3}, std::vector<std::int32_t>{2000000000, 2000000000, -1});
  BOOST_TEST(run_reference("sum", reduce_attributes({0}, DType::int64), {x}).front().item() == 3999999999.0);
  const Tensor flags({4}, std::vector<bool>{true, false, true, true});
  const Tensor count = run_reference("sum", reduce_attributes({0}, DType::int64), {flags}).front();
  BOOST_TEST(count.item() == 3);
  BOOST_TEST(run_reference("sum", reduce_attributes({0}, DType::float32), {flags}).front().item() == 3);
  BOOST_TEST(run_reference("sum", reduce_attributes({0}, DType::int32), {x}).front().item() ==
             3999999999.0 - 4294967296.0);
}

BOOST_AUTO_TEST_CASE(output_of_another_dtype) {
  const Tensor x = random_tensor({40, 3}, DType::float64);
  const Tensor y = run_reference("sum", reduce_attributes({0}, DType::float32), {x}).front();
  BOOST_TEST(y.equal(run_reference("sum", reduce_attributes({0}, DType::float64), {x}).front().cast(DType::float32)));
  BOOST_TEST(run_kernel("reference", "sum", reduce_attributes({0}, DType::bfloat16), {x}).declined ==
             "computes float32 and float64 only");
}

BOOST_AUTO_TEST_CASE(the_same_on_any_number_of_threads) {
  const Tensor x = random_tensor({300, 130}, DType::float32);
  BOOST_TEST(same_on_any_threads("reference", "sum", reduce_attributes({0}, DType::float32), {x}));
}

BOOST_AUTO_TEST_CASE(argmax_takes_the_first_of_equals) {
  const Tensor x({2, 4}, std::vector<float>{1, 5, 5, 2, -3, -3, -4, -3});
  BOOST_TEST(
      (run_reference("argmax", {{"axis", std::int64_t{1}}}, {x}).front().to_doubles() == std::vector<double>{1, 0}));
  BOOST_TEST((run_reference("argmax", {{"axis", std::int64_t{0}}}, {x}).front().to_doubles() ==
              std::vector<double>{0, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(argmax_along_any_axis_in_any_dtype) {
  for (const DType dtype :
       {DType::float32, DType::float64, DType::bfloat16, DType::float16, DType::int32, DType::uint8}) {
    const Tensor x = random_tensor({3, 5, 7}, dtype, 2, 0, 50);
    const std::vector<double> elements = x.to_doubles();
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      const Tensor y = run_reference("argmax", {{"axis", axis}}, {x}).front();
      BOOST_TEST((y.dtype() == DType::int64));
      const std::vector<double> got = y.to_doubles();
      const auto step = static_cast<std::size_t>(detail::row_major_strides(x.shape())[static_cast<std::size_t>(axis)]);
      const auto size = static_cast<std::size_t>(x.shape()[static_cast<std::size_t>(axis)]);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double* start = &elements[i / step * size * step + i % step];
        std::size_t best = 0;
        for (std::size_t k = 0; k < size; ++k) best = start[k * step] > start[best * step] ? k : best;
        BOOST_TEST(got[i] == static_cast<double>(best));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(argmax_finds_nan) {
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  const Tensor x({2, 4}, std::vector<float>{1, not_a_number, 5, not_a_number, not_a_number, 1, 2, 3});
  BOOST_TEST(
      (run_reference("argmax", {{"axis", std::int64_t{1}}}, {x}).front().to_doubles() == std::vector<double>{1, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
