#include <boost/test/unit_test.hpp>

#include <mezzo/core/dtype.hpp>
#include <mezzo/training/slow_policy.hpp>

using namespace mezzo;

BOOST_AUTO_TEST_SUITE(slow_policy)

BOOST_AUTO_TEST_CASE(a_policy_with_slower_products_is_told_of) {
  const auto rates = [](double matmul, double conv2d) { return ProductRates{matmul, conv2d, "widen"}; };
  BOOST_TEST(detail::slowness("mixed_float16", rates(200, 100), rates(100, 60)) ==
             "mixed_float16 is slower than float32 on this CPU: matrix products run at 0.50 of float32's speed, "
             "convolutions at 0.60 (measured); precision \"auto\" measures your model and picks");
  BOOST_TEST(detail::slowness("mixed_float16", rates(200, 100), rates(190, 95)).empty());
  BOOST_TEST(detail::slowness("mixed_bfloat16", rates(200, 100), rates(100, 300)).empty());
}

BOOST_AUTO_TEST_CASE(rates_are_measured) {
  for (const ProductRates& rates : product_rates({DType::float32, DType::bfloat16}, 1)) {
    BOOST_TEST(rates.matmul > 0);
    BOOST_TEST(rates.conv2d > 0);
    BOOST_TEST(!rates.kernels.empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
