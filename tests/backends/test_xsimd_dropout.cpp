#include <boost/test/unit_test.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void check_dropout(std::int64_t size, DType dtype, double rate) {
  const Attributes attributes{{"rate", rate}, {"key", std::int64_t{-7046029254386353131}}};
  const Tensor x = random_tensor({size}, dtype, 1, 1, 2);
  check_xsimd("dropout", attributes, {x, float64_scalar(123), float64_scalar(45)}, 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_dropout)

BOOST_AUTO_TEST_CASE(keeps_the_elements_that_ops_md_specifies) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : xsimd_sizes) check_dropout(size, dtype, 0.3);
    check_dropout(shared_size, dtype, 0.5);
  }
}

BOOST_AUTO_TEST_CASE(rates) {
  for (const double rate : {0.0, 0x1p-24, 0.1, 0.75, 0.999999, 1 - 0x1p-53}) check_dropout(1003, DType::float32, rate);
}

BOOST_AUTO_TEST_SUITE_END()
