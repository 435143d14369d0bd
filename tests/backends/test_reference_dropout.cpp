#include <boost/test/unit_test.hpp>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor drop(const Tensor& x, double rate, std::int64_t key, double seed, double step) {
  return run_reference("dropout", {{"rate", rate}, {"key", key}}, {x, float64_scalar(seed), float64_scalar(step)})
      .front();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_dropout)

BOOST_AUTO_TEST_CASE(keeps_what_philox_says) {
  const Tensor x = random_tensor({11, 9}, DType::float64);
  const std::int64_t key = -1234567890123456789;
  const std::uint64_t stream = detail::mix(detail::mix(static_cast<std::uint64_t>(key), 42), 7);
  const std::vector<double> got = drop(x, 0.3, key, 42, 7).to_doubles(), elements = x.to_doubles();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool kept = unit_float(philox(stream, i / 4)[i % 4]) >= 0.3F;
    BOOST_TEST(got[i] == (kept ? elements[i] / 0.7 : 0));
  }
}

BOOST_AUTO_TEST_CASE(drops_that_share_and_keeps_the_mean) {
  const Tensor ones = run_reference("broadcast_to", {{"shape", Shape{100000}}}, {Tensor::scalar(1)}).front();
  const std::vector<double> got = drop(ones, 0.25, 1, 0, 0).to_doubles();
  double kept = 0, sum = 0;
  for (const double x : got) {
    kept += x != 0 ? 1 : 0;
    sum += x;
  }
  BOOST_TEST(std::abs(kept / 100000 - 0.75) < 0.01);
  BOOST_TEST(std::abs(sum / 100000 - 1) < 0.01);
}

BOOST_AUTO_TEST_CASE(depends_on_key_seed_and_step) {
  const Tensor x = random_tensor({256}, DType::float32);
  const Tensor first = drop(x, 0.5, 1, 2, 3);
  BOOST_TEST(first.equal(drop(x, 0.5, 1, 2, 3)));
  BOOST_TEST(!first.equal(drop(x, 0.5, 2, 2, 3)));
  BOOST_TEST(!first.equal(drop(x, 0.5, 1, 3, 3)));
  BOOST_TEST(!first.equal(drop(x, 0.5, 1, 2, 4)));
  BOOST_TEST(drop(x, 0, 1, 2, 3).equal(x));
}

BOOST_AUTO_TEST_CASE(the_same_on_any_number_of_threads) {
  const Tensor x = random_tensor({70001}, DType::float32);
  const Attributes attributes{{"rate", 0.5}, {"key", std::int64_t{3}}};
  BOOST_TEST(same_on_any_threads("reference", "dropout", attributes, {x, float64_scalar(2), float64_scalar(3)}));
}

BOOST_AUTO_TEST_CASE(in_place) {
  const Tensor x = random_tensor({30}, DType::float32), zero = float64_scalar(0);
  const Attributes attributes{{"rate", 0.5}, {"key", std::int64_t{3}}};
  BOOST_TEST(count_safe_overwrites("reference", "dropout", attributes, {x, zero, zero}) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
