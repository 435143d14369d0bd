#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<DType> floats{DType::float32, DType::float64, DType::bfloat16, DType::float16};

Tensor with(Tensor x, std::int64_t at, double value) {
  visit_dtype(x.dtype(), [&](auto zero) { x.mutable_data<decltype(zero)>()[at] = convert<decltype(zero)>(value); });
  return x;
}

bool finite(const std::vector<Tensor>& inputs) { return run_reference("all_finite", {}, inputs).front().item() == 1; }

std::pair<double, bool> multiplier(double clipnorm, double scale, std::vector<Tensor> gradients) {
  gradients.insert(gradients.begin(), float64_scalar(scale));
  const auto out = run_reference("gradient_multiplier", {{"clipnorm", clipnorm}}, gradients);
  return {out[0].item(), out[1].item() == 1};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_finite)

BOOST_AUTO_TEST_CASE(finds_one_bad_element_anywhere) {
  for (const DType dtype : floats) {
    const Tensor small = random_tensor({5}, dtype), large = random_tensor({40000}, dtype);
    BOOST_TEST(finite({small, large}));
    for (const double bad : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
      BOOST_TEST(!finite({with(small, 4, bad), large}));
      BOOST_TEST(!finite({small, with(large, 39999, bad)}));
      BOOST_TEST(!finite({small, with(large, 16384, bad)}));
    }
  }
  BOOST_TEST(finite({}));
  BOOST_TEST(finite({Tensor({0})}));
  BOOST_TEST(finite({with(Tensor({1}, DType::float64), 0, std::numeric_limits<double>::max())}));
}

BOOST_AUTO_TEST_CASE(unscales) {
  const Tensor g = random_tensor({50}, DType::float32);
  BOOST_TEST(multiplier(0, 1024, {g}).first == 1.0 / 1024);
  BOOST_TEST(multiplier(0, 1, {g}).first == 1);
  BOOST_TEST(multiplier(1e9, 8, {g}).first == 0.125);
}

BOOST_AUTO_TEST_CASE(clips_the_norm_of_all_together) {
  std::vector<Tensor> gradients;
  double squares = 0;
  for (const DType dtype : floats) {
    gradients.push_back(random_tensor({3, 70}, dtype, gradients.size()));
    squares += dot(gradients.back(), gradients.back());
  }
  const double norm = std::sqrt(squares) / 4;
  const auto [factor, all_finite] = multiplier(0.5, 4, gradients);
  BOOST_TEST(std::abs(factor - 0.5 / norm / 4) < 1e-12);
  BOOST_TEST(all_finite);
  BOOST_TEST(multiplier(norm * 1.01, 4, gradients).first == 0.25);
}

BOOST_AUTO_TEST_CASE(tells_what_is_not_finite) {
  const Tensor g = random_tensor({50}, DType::float16);
  BOOST_TEST(multiplier(0, 2, {g}).second);
  BOOST_TEST(!multiplier(0, 2, {g, with(g, 3, std::numeric_limits<double>::infinity())}).second);
  BOOST_TEST(!multiplier(1, 2, {with(g, 49, std::numeric_limits<double>::quiet_NaN()), g}).second);
}

BOOST_AUTO_TEST_CASE(the_same_on_any_number_of_threads) {
  const Tensor g = random_tensor({100000}, DType::float32);
  BOOST_TEST(same_on_any_threads("reference", "gradient_multiplier", {{"clipnorm", 1e-3}}, {float64_scalar(1), g}));
}

BOOST_AUTO_TEST_SUITE_END()
