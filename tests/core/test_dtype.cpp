#include <boost/test/unit_test.hpp>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/error.hpp>

#include "support/throws.hpp"

using mezzo::DType;

BOOST_AUTO_TEST_SUITE(dtype)

BOOST_AUTO_TEST_CASE(names_lead_back_to_their_dtype) {
  for (int i = 0; i < 10; ++i) {
    const auto dtype = static_cast<DType>(i);
    BOOST_TEST((mezzo::dtype_from_name(mezzo::dtype_name(dtype)) == dtype));
  }
  mezzo_tests::check_throws<mezzo::NameError>(
      "unknown dtype \"half\"; valid names: float32, float64, bfloat16, float16, int8, int16, int32, int64, uint8, "
      "bool, float8_e4m3fn, float8_e5m2",
      [] { mezzo::dtype_from_name("half"); });
}

BOOST_AUTO_TEST_CASE(promotion_is_symmetric_and_loses_nothing) {
  using mezzo::promote;
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) {
      BOOST_TEST((promote(static_cast<DType>(i), static_cast<DType>(j)) ==
                  promote(static_cast<DType>(j), static_cast<DType>(i))));
    }
  }
  BOOST_TEST((promote(DType::bfloat16, DType::float16) == DType::float32));
  BOOST_TEST((promote(DType::int8, DType::uint8) == DType::int16));
  BOOST_TEST((promote(DType::int64, DType::float16) == DType::float16));
  BOOST_TEST((promote(DType::boolean, DType::uint8) == DType::uint8));
}

BOOST_AUTO_TEST_CASE(sums_are_float32_at_least) {
  BOOST_TEST((mezzo::accumulation_dtype(DType::float64) == DType::float64));
  BOOST_TEST((mezzo::accumulation_dtype(DType::bfloat16) == DType::float32));
  BOOST_TEST((mezzo::accumulation_dtype(DType::int64) == DType::float32));
}

BOOST_AUTO_TEST_SUITE_END()
