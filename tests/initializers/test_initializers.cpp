#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <mezzo/core/parallel.hpp>
#include <mezzo/initializers/constant.hpp>
#include <mezzo/initializers/identity.hpp>
#include <mezzo/initializers/orthogonal.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/initializers/truncated_normal.hpp>
#include <mezzo/initializers/variance_scaling.hpp>

#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Compares mean, standard deviation and range of many numbers with Keras', within statistical tolerances.
void check_recorded(const std::string& name, const Any<Initializer>& initializer) {
  const auto& expected = recorded("initializers").at(name);
  const auto x = initializer->make(expected.at("shape").get<Shape>(), DType::float64, 1).to_doubles();
  const auto n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double square = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / n;
  const auto range = std::minmax_element(x.begin(), x.end());
  const auto deviation = expected.at("deviation").get<double>();
  const bool unbounded = expected.at("highest").get<double>() > 3 * deviation;
  BOOST_TEST_CONTEXT(name) {
    BOOST_TEST(std::abs(mean) < 5 * deviation / std::sqrt(n));
    BOOST_TEST(std::abs(std::sqrt(square - mean * mean) / deviation - 1) < 0.01);
    const double slack = (unbounded ? 1.0 : 0.01) * deviation;
    BOOST_TEST(std::abs(*range.first - expected.at("lowest").get<double>()) < slack);
    BOOST_TEST(std::abs(*range.second - expected.at("highest").get<double>()) < slack);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(initializers)

BOOST_AUTO_TEST_CASE(fans_equal_keras) {
  for (const auto& row : recorded("initializers").at("fans")) {
    const detail::Fans fans = detail::compute_fans(row.at("shape").get<Shape>());
    BOOST_TEST(fans.in == row.at("fans")[0].get<double>());
    BOOST_TEST(fans.out == row.at("fans")[1].get<double>());
  }
}

BOOST_AUTO_TEST_CASE(statistics_equal_keras) {
  for (const char* name :
       {"glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform", "random_normal",
        "random_uniform", "truncated_normal", "variance_scaling"}) {
    check_recorded(name, name);
  }
  for (const char* mode : {"fan_in", "fan_out", "fan_avg"}) {
    for (const char* distribution : {"truncated_normal", "untruncated_normal", "uniform"}) {
      check_recorded(std::string(mode).append(" ").append(distribution),
                     VarianceScaling({.scale = 3, .mode = mode, .distribution = distribution}));
    }
  }
}

BOOST_AUTO_TEST_CASE(options_move_and_scale) {
  const auto shifted = RandomNormal({.mean = 10, .stddev = 0.5}).make({10000}, DType::float64, 3).to_doubles();
  const auto plain = RandomNormal({.mean = 0, .stddev = 1}).make({10000}, DType::float64, 3).to_doubles();
  for (std::size_t i = 0; i < plain.size(); ++i) BOOST_REQUIRE(std::abs(shifted[i] - 10 - 0.5 * plain[i]) < 1e-14);
  for (const double x : RandomUniform({.minval = 2, .maxval = 3}).make({1000}, DType::float64, 4).to_doubles()) {
    BOOST_REQUIRE((x >= 2 && x < 3));
  }
  for (const double x : TruncatedNormal({.mean = 1, .stddev = 0.1}).make({1000}, DType::float64, 5).to_doubles()) {
    BOOST_REQUIRE(std::abs(x - 1) <= 0.2);
  }
}

BOOST_AUTO_TEST_CASE(constants) {
  BOOST_TEST(Zeros().make({2}, DType::float16, 1).to_doubles() == (std::vector<double>{0, 0}));
  BOOST_TEST(Ones().make({2}, DType::bfloat16, 1).to_doubles() == (std::vector<double>{1, 1}));
  BOOST_TEST(Constant(2.5).make({}, DType::float64, 1).item() == 2.5);
  BOOST_TEST(Any<Initializer>("constant")->make({}, DType::float32, 1).item() == 0);
}

BOOST_AUTO_TEST_CASE(arrays_and_identities) {
  const Tensor array({2, 2}, std::vector<double>{1, 2, 3, 4});
  BOOST_TEST(Constant(array).make({2, 2}, DType::float32, 1).equal(array.cast(DType::float32)));
  BOOST_TEST(Constant(Tensor::scalar(3)).make({2}, DType::float64, 1).to_doubles() == (std::vector<double>{3, 3}));
  BOOST_TEST(IdentityInitializer().make({2, 3}, DType::float32, 1).to_doubles() ==
             (std::vector<double>{1, 0, 0, 0, 1, 0}));
  BOOST_TEST(mezzo::initializers::Identity(0.5).make({2, 2}, DType::bfloat16, 1).to_doubles() ==
             (std::vector<double>{0.5, 0, 0, 0.5}));
  BOOST_TEST(refused<ShapeError>([] { IdentityInitializer().make({2}, DType::float32, 1); }) ==
             "[Identity] the weight must be a matrix; got shape (2,)");
  BOOST_TEST(refused<ShapeError>([] { Orthogonal().make({2}, DType::float32, 1); }) ==
             "[Orthogonal] the weight must have two axes or more; got shape (2,)");
}

// Keras' definition: of the weight as a matrix of shape[-1] columns, columns or rows are orthonormal, times gain.
BOOST_AUTO_TEST_CASE(orthogonal_vectors) {
  for (const Shape& shape : {Shape{5, 3}, Shape{3, 5}, Shape{4, 4}, Shape{2, 3, 2, 5}, Shape{1, 1}, Shape{0, 3}}) {
    const std::int64_t columns = shape.back(), rows = element_count(shape) / std::max<std::int64_t>(columns, 1);
    const auto q = Orthogonal(3).make(shape, DType::float64, 9).to_doubles();
    const bool tall = rows >= columns;
    const auto at = [&](std::int64_t vector, std::int64_t i) {
      return q[static_cast<std::size_t>(tall ? i * columns + vector : vector * columns + i)];
    };
    for (std::int64_t a = 0; a < std::min(rows, columns); ++a) {
      for (std::int64_t b = 0; b < std::min(rows, columns); ++b) {
        double product = 0;
        for (std::int64_t i = 0; i < std::max(rows, columns); ++i) product += at(a, i) * at(b, i);
        BOOST_TEST(std::abs(product - (a == b ? 9 : 0)) < 1e-13);
      }
    }
  }
  double sum = 0;  // both signs of a vector are equally likely
  for (std::uint64_t key = 0; key < 400; ++key) sum += Orthogonal().make({1, 1}, DType::float64, key).item();
  BOOST_TEST(std::abs(sum) < 100);
}

BOOST_AUTO_TEST_CASE(a_seed_overrides_the_key) {
  const auto make = [](const Any<Initializer>& initializer, std::uint64_t key) {
    return initializer->make({3, 3}, DType::float64, key);
  };
  for (const Any<Initializer>& seeded :
       {Any<Initializer>(GlorotUniform({.seed = 1})), Any<Initializer>(RandomNormal({.seed = 1})),
        Any<Initializer>(RandomUniform({.seed = 1})), Any<Initializer>(TruncatedNormal({.seed = 1})),
        Any<Initializer>(HeNormal({.seed = 1})), Any<Initializer>(Orthogonal({.seed = 1}))}) {
    BOOST_TEST(make(seeded, 1).equal(make(seeded, 2)));
  }
  BOOST_TEST(!make(GlorotUniform({.seed = 1}), 1).equal(make(GlorotUniform({.seed = 2}), 1)));
  BOOST_TEST(make(RandomUniform(-1, 1), 4).equal(make(RandomUniform({.minval = -1, .maxval = 1}), 4)));
  BOOST_TEST(make(VarianceScaling(2.0, "fan_out"), 4).equal(make(VarianceScaling({.scale = 2, .mode = "fan_out"}), 4)));
}

BOOST_AUTO_TEST_CASE(a_key_fixes_the_numbers) {
  const int threads = thread_count();
  for (const char* name : {"glorot_uniform", "he_normal", "random_normal"}) {
    const Any<Initializer> initializer = name;
    const Tensor x = initializer->make({100, 100}, DType::float64, 7);
    BOOST_TEST(!initializer->make({100, 100}, DType::float64, 8).equal(x));
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
      BOOST_TEST(initializer->make({100, 100}, dtype, 7).equal(x.cast(dtype)));
    }
    set_thread_count(1);
    BOOST_TEST(initializer->make({100, 100}, DType::float64, 7).equal(x));
    set_thread_count(threads);
  }
}

BOOST_AUTO_TEST_CASE(names_are_keras) {
  for (const char* name : {"one", "ones", "zero", "zeros", "normal", "uniform"})
    BOOST_TEST(bool(Any<Initializer>(name)));
  BOOST_TEST(
      refused<NameError>([] { Any<Initializer>("glorot"); }) ==
      "unknown initializer \"glorot\"; valid names: constant, glorot_normal, glorot_uniform, he_normal, he_uniform, "
      "identity, lecun_normal, lecun_uniform, normal, one, ones, orthogonal, random_normal, random_uniform, "
      "truncated_normal, uniform, variance_scaling, zero, zeros; nearest: \"glorot_normal\"");
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused<ValueError>([] { RandomNormal({.stddev = -1}); }) ==
             "[RandomNormal] stddev must not be negative; got -1");
  BOOST_TEST(refused<ValueError>([] { TruncatedNormal({.stddev = -1}); }) ==
             "[TruncatedNormal] stddev must not be negative; got -1");
  BOOST_TEST(refused<ValueError>([] { RandomUniform({.minval = 1, .maxval = 0}); }) ==
             "[RandomUniform] maxval must not be below minval; got minval 1, maxval 0");
  BOOST_TEST(refused<ValueError>([] { VarianceScaling({.scale = 0}); }) ==
             "[VarianceScaling] scale must be positive; got 0");
  BOOST_TEST(refused<NameError>([] { VarianceScaling({.mode = "fan"}); }) ==
             "[VarianceScaling] unknown mode \"fan\"; valid names: fan_avg, fan_in, fan_out; nearest: \"fan_avg\"");
  BOOST_TEST(
      refused<NameError>([] { VarianceScaling({.distribution = "cauchy"}); }) ==
      "[VarianceScaling] unknown distribution \"cauchy\"; valid names: truncated_normal, uniform, untruncated_normal");
}

BOOST_AUTO_TEST_SUITE_END()
