#include <boost/test/unit_test.hpp>

#include <limits>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Attributes pool_attributes(const Shape& window, const Shape& strides, const Shape& padding) {
  return {{"window", window}, {"strides", strides}, {"padding", padding}};
}

using Numbers = std::vector<double>;

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_max_pool2d)

BOOST_AUTO_TEST_CASE(maximum_and_its_place) {
  const Tensor x({1, 2, 4, 1}, std::vector<float>{1, 2, 7, 5,  //
                                                  4, 3, 6, 8});
  const auto out = run_reference("max_pool2d", pool_attributes({2, 2}, {2, 2}, {0, 0, 0, 0}), {x});
  BOOST_TEST((out[0].to_doubles() == Numbers{4, 8}));
  BOOST_TEST((out[1].to_doubles() == Numbers{2, 3}));
  BOOST_TEST((out[1].dtype() == DType::uint8));
}

BOOST_AUTO_TEST_CASE(the_first_of_equals) {
  const Tensor x({1, 2, 2, 2}, std::vector<float>{3, 1, 3, 2, 3, 2, 3, 0});
  const auto out = run_reference("max_pool2d", pool_attributes({2, 2}, {2, 2}, {0, 0, 0, 0}), {x});
  BOOST_TEST((out[0].to_doubles() == Numbers{3, 2}));
  BOOST_TEST((out[1].to_doubles() == Numbers{0, 1}));
}

BOOST_AUTO_TEST_CASE(not_a_number_is_above_all) {
  const Tensor x({1, 1, 4, 1}, std::vector<float>{infinity, not_a_number, not_a_number, 1});
  const auto out = run_reference("max_pool2d", pool_attributes({1, 4}, {1, 4}, {0, 0, 0, 0}), {x});
  BOOST_TEST(std::isnan(out[0].item()));
  BOOST_TEST(out[1].item() == 1);
}

BOOST_AUTO_TEST_CASE(padding_never_wins) {
  const Tensor x({1, 2, 2, 1}, std::vector<float>{-5, -6, -infinity, -8});
  const auto attributes = pool_attributes({2, 2}, {1, 1}, {1, 1, 1, 1});
  const auto out = run_reference("max_pool2d", attributes, {x});
  BOOST_TEST((out[0].to_doubles() == Numbers{-5, -5, -6, -5, -5, -6, -infinity, -8, -8}));
  BOOST_TEST((out[1].to_doubles() == Numbers{3, 2, 2, 1, 0, 0, 1, 1, 0}));
  const Tensor g({1, 3, 3, 1}, std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 1});
  const auto dx = run_reference("max_pool2d_gradient", with_attribute(attributes, "shape", x.shape()), {g, out[1]});
  BOOST_TEST((dx[0].to_doubles() == Numbers{4, 2, 1, 2}));
}

BOOST_AUTO_TEST_CASE(gradient_goes_to_the_places) {
  const auto attributes = pool_attributes({3, 2}, {2, 1}, {1, 1, 0, 1});
  const Tensor x = random_tensor({3, 7, 5, 4}, DType::float64);
  const auto out = run_reference("max_pool2d", attributes, {x});
  const Tensor g = small_integers(out[0].shape(), DType::float64, 2);
  const Tensor dx =
      run_reference("max_pool2d_gradient", with_attribute(attributes, "shape", x.shape()), {g, out[1]}).front();
  BOOST_TEST(std::abs(dot(out[0], g) - dot(x, dx)) < 1e-10);  // pooling is linear where places stay
  const std::vector<double> all = dx.to_doubles(), gradients = g.to_doubles();
  double sum = 0, expected = 0;
  for (const double d : all) sum += d;
  for (const double d : gradients) expected += d;
  BOOST_TEST(sum == expected);
}

BOOST_AUTO_TEST_CASE(large_windows_count_in_int32) {
  const Tensor x = random_tensor({2, 20, 17, 3}, DType::float32);
  const auto attributes = pool_attributes({20, 17}, {1, 1}, {0, 0, 0, 0});
  const auto out = run_reference("max_pool2d", attributes, {x});
  BOOST_TEST((out[1].dtype() == DType::int32));
  const std::vector<double> elements = x.to_doubles(), places = out[1].to_doubles(), greatest = out[0].to_doubles();
  for (std::size_t i = 0; i < places.size(); ++i) {
    BOOST_TEST(elements[i / 3 * 20 * 17 * 3 + static_cast<std::size_t>(places[i]) * 3 + i % 3] == greatest[i]);
  }
  const auto dx =
      run_reference("max_pool2d_gradient", with_attribute(attributes, "shape", x.shape()), {out[0], out[1]});
  BOOST_TEST(std::abs(dot(dx[0], x) - dot(out[0], out[0])) < 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
