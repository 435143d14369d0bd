#include <boost/test/unit_test.hpp>

#include <cmath>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Attributes norm_attributes(bool training) { return {{"epsilon", 1e-3}, {"momentum", 0.9}, {"training", training}}; }

struct Operands {
  Tensor x, gamma, beta, mean, variance;
  std::vector<Tensor> list() const { return {x, gamma, beta, mean, variance}; }
};

Operands operands(const Shape& shape, DType dtype) {
  const Shape channels{shape.back()};
  return {random_tensor(shape, dtype, 1, -2, 5), random_tensor(channels, dtype, 2, 0.5, 2),
          random_tensor(channels, dtype, 3), random_tensor(channels, dtype, 4),
          random_tensor(channels, dtype, 5, 0.5, 2)};
}

struct Statistics {
  std::vector<double> mean, variance;
};

Statistics plain_statistics(const Tensor& x) {
  const auto channels = static_cast<std::size_t>(x.shape().back());
  const std::vector<double> elements = x.to_doubles();
  const double rows = static_cast<double>(elements.size() / channels);
  Statistics s{std::vector<double>(channels), std::vector<double>(channels)};
  for (std::size_t i = 0; i < elements.size(); ++i) s.mean[i % channels] += elements[i] / rows;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    s.variance[i % channels] += std::pow(elements[i] - s.mean[i % channels], 2) / rows;
  }
  return s;
}

void check_near(const Tensor& got, std::size_t i, double expected, double tolerance) {
  BOOST_TEST(std::abs(got.to_doubles()[i] - expected) <= tolerance * (1 + std::abs(expected)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_batch_norm)

BOOST_AUTO_TEST_CASE(training_uses_and_learns_the_batch) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const double tolerance = dtype == DType::float32 ? 1e-6 : 1e-13;
    const Operands o = operands({4, 3, 2, 19}, dtype);
    const auto out = run_reference("batch_norm", norm_attributes(true), o.list());
    const Statistics s = plain_statistics(o.x);
    const std::vector<double> gamma = o.gamma.to_doubles(), beta = o.beta.to_doubles(), x = o.x.to_doubles();
    for (std::size_t c = 0; c < 19; ++c) {
      check_near(out[1], c, s.mean[c], tolerance);
      check_near(out[2], c, 1 / std::sqrt(s.variance[c] + 1e-3), tolerance);
      check_near(out[3], c, 0.9 * o.mean.to_doubles()[c] + 0.1 * s.mean[c], tolerance);
      check_near(out[4], c, 0.9 * o.variance.to_doubles()[c] + 0.1 * s.variance[c], tolerance);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i % 19;
      check_near(out[0], i, (x[i] - s.mean[c]) / std::sqrt(s.variance[c] + 1e-3) * gamma[c] + beta[c], tolerance);
    }
  }
}

BOOST_AUTO_TEST_CASE(inference_uses_what_was_learned) {
  const Operands o = operands({6, 5}, DType::float64);
  const auto out = run_reference("batch_norm", norm_attributes(false), o.list());
  BOOST_TEST(out[1].equal(o.mean));
  BOOST_TEST(out[3].equal(o.mean));
  BOOST_TEST(out[4].equal(o.variance));
  const std::vector<double> x = o.x.to_doubles();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % 5;
    const double inverse = 1 / std::sqrt(o.variance.to_doubles()[c] + 1e-3);
    check_near(out[0], i, (x[i] - o.mean.to_doubles()[c]) * inverse * o.gamma.to_doubles()[c] + o.beta.to_doubles()[c],
               1e-13);
  }
}

BOOST_AUTO_TEST_CASE(a_large_mean_does_not_spoil_the_variance) {
  Tensor x = random_tensor({1000, 1}, DType::float32);
  for (std::int64_t i = 0; i < 1000; ++i) x.mutable_data<float>()[i] = 1000.0F + static_cast<float>(i % 2) * 0.125F;
  Operands o = operands({1000, 1}, DType::float32);
  o.x = x;
  const auto out = run_reference("batch_norm", norm_attributes(true), o.list());
  check_near(out[2], 0, 1 / std::sqrt(0.0625 * 0.0625 + 1e-3), 1e-6);
}

BOOST_AUTO_TEST_CASE(gradients_match_finite_differences) {
  for (const bool training : {true, false}) {
    const Operands o = operands({5, 3}, DType::float64);
    const auto out = run_reference("batch_norm", norm_attributes(training), o.list());
    const Tensor g = random_tensor(o.x.shape(), DType::float64, 7);
    const auto gradients =
        run_reference("batch_norm_gradient", {{"training", training}}, {g, o.x, o.gamma, out[1], out[2]});
    for (std::size_t operand = 0; operand < 3; ++operand) {
      for (std::int64_t i = 0; i < gradients[operand].size(); ++i) {
        double loss[2];
        for (const int side : {0, 1}) {
          std::vector<Tensor> moved = o.list();
          moved[operand].mutable_data<double>()[i] += side == 0 ? -1e-5 : 1e-5;
          loss[side] = dot(run_reference("batch_norm", norm_attributes(training), moved)[0], g);
        }
        check_near(gradients[operand], static_cast<std::size_t>(i), (loss[1] - loss[0]) / 2e-5, 1e-7);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(in_place) {
  const Operands o = operands({7, 33}, DType::float32);
  BOOST_TEST(count_safe_overwrites("reference", "batch_norm", norm_attributes(true), o.list()) == 1);
  const auto out = run_reference("batch_norm", norm_attributes(true), o.list());
  const Tensor g = random_tensor(o.x.shape(), DType::float32, 7);
  BOOST_TEST(count_safe_overwrites("reference", "batch_norm_gradient", {{"training", true}},
                                   {g, o.x, o.gamma, out[1], out[2]}) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
