#include <boost/test/unit_test.hpp>

#include <limits>
#include <numeric>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// out[i] = x[permuted i], by the definition.
std::vector<double> transposed(const Tensor& x, const Shape& permutation, const Shape& shape) {
  const Shape in = detail::row_major_strides(x.shape()), out = detail::row_major_strides(shape);
  const std::vector<double> elements = x.to_doubles();
  std::vector<double> result(elements.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const std::int64_t index = static_cast<std::int64_t>(i) / out[axis] % shape[axis];
      from += index * in[static_cast<std::size_t>(permutation[axis])];
    }
    result[i] = elements[static_cast<std::size_t>(from)];
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_movement)

BOOST_AUTO_TEST_CASE(cast_between_all_dtypes_is_that_of_tensors) {
  for (const DType from : all_dtypes) {
    const Tensor x = random_tensor({3, 37}, from, 5, from == DType::uint8 ? 0 : -100, 100);
    for (const DType to : all_dtypes) {
      const Tensor y = run_reference("cast", {{"dtype", to}}, {x}).front();
      BOOST_TEST(y.equal(x.cast(to)), dtype_name(from) << " to " << dtype_name(to));
    }
  }
}

BOOST_AUTO_TEST_CASE(cast_rounds_to_nearest_even) {
  const Tensor x({5}, std::vector<float>{1.00390625F, 1.01171875F, 65519.0F, 65520.0F, 1e-8F});
  const Tensor b = run_reference("cast", {{"dtype", DType::bfloat16}}, {x}).front();
  BOOST_TEST(b.to_doubles()[0] == 1.0);
  BOOST_TEST(b.to_doubles()[1] == 1.015625);
  const Tensor h = run_reference("cast", {{"dtype", DType::float16}}, {x}).front();
  BOOST_TEST(h.to_doubles()[2] == 65504.0);
  BOOST_TEST(h.to_doubles()[3] == std::numeric_limits<double>::infinity());
  BOOST_TEST(h.to_doubles()[4] == 0.0);
}

BOOST_AUTO_TEST_CASE(views_keep_the_bytes) {
  const Tensor x = random_tensor({4, 6}, DType::bfloat16);
  BOOST_TEST(run_reference("reshape", {{"shape", Shape{3, 8}}}, {x}).front().equal(x.reshape({3, 8})));
  BOOST_TEST(run_reference("stop_gradient", {}, {x}).front().equal(x));
  BOOST_TEST(count_safe_overwrites("reference", "reshape", {{"shape", Shape{24}}}, {x}) == 1);
}

BOOST_AUTO_TEST_CASE(transpose_by_any_permutation) {
  const Shape shape{2, 3, 4, 5};
  Shape permutation{0, 1, 2, 3};
  do {
    Shape to;
    for (const auto axis : permutation) to.push_back(shape[static_cast<std::size_t>(axis)]);
    const Tensor x = random_tensor(shape, DType::float32);
    const Tensor y = run_reference("transpose", {{"permutation", permutation}}, {x}).front();
    BOOST_TEST((y.shape() == to));
    BOOST_TEST((y.to_doubles() == transposed(x, permutation, to)), to_string(permutation));
  } while (std::next_permutation(permutation.begin(), permutation.end()));
}

BOOST_AUTO_TEST_CASE(transpose_in_every_dtype) {
  for (const DType dtype : all_dtypes) {
    const Tensor x = random_tensor({17, 1, 29}, dtype, 3, 0, 90);
    const Tensor y = run_reference("transpose", {{"permutation", Shape{2, 1, 0}}}, {x}).front();
    BOOST_TEST((y.to_doubles() == transposed(x, {2, 1, 0}, {29, 1, 17})), dtype_name(dtype));
  }
  BOOST_TEST(run_reference("transpose", {{"permutation", Shape{}}}, {Tensor::scalar(4)}).front().item() == 4);
}

BOOST_AUTO_TEST_CASE(broadcast_to_in_every_dtype) {
  for (const DType dtype : all_dtypes) {
    const Tensor x = random_tensor({3, 1, 5}, dtype, 4, 0, 90);
    const Tensor y = run_reference("broadcast_to", {{"shape", Shape{2, 3, 4, 5}}}, {x}).front();
    const std::vector<double> from = x.to_doubles(), got = y.to_doubles();
    BOOST_REQUIRE(got.size() == 120U);
    bool same = true;
    for (std::size_t i = 0; i < got.size(); ++i) same = same && got[i] == from[i / 20 % 3 * 5 + i % 5];
    BOOST_TEST(same, dtype_name(dtype));
  }
  const Tensor ones = run_reference("broadcast_to", {{"shape", Shape{50000}}}, {Tensor::scalar(1)}).front();
  const std::vector<double> elements = ones.to_doubles();
  BOOST_TEST(std::accumulate(elements.begin(), elements.end(), 0.0) == 50000);
}

BOOST_AUTO_TEST_SUITE_END()
