#include <boost/test/unit_test.hpp>

#include <limits>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/finfo.hpp>
#include <mezzo/core/visit.hpp>

#include "support/precision.hpp"
#include "support/throws.hpp"

using namespace mezzo;

namespace {

template <class T>
void check_like_the_compiler() {
  using Limits = std::numeric_limits<T>;
  const FInfo info = mezzo::finfo(DTypeOf<T>::value);
  BOOST_TEST(info.bits == static_cast<int>(8 * sizeof(T)));
  BOOST_TEST(info.digits == Limits::digits10);
  BOOST_TEST(info.eps == Limits::epsilon());
  BOOST_TEST(info.max == Limits::max());
  BOOST_TEST(info.min == Limits::lowest());
  BOOST_TEST(info.smallest_normal == Limits::min());
  BOOST_TEST(info.smallest_subnormal == Limits::denorm_min());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(finfo)

BOOST_AUTO_TEST_CASE(float32_and_float64_are_as_the_compiler_says) {
  check_like_the_compiler<float>();
  check_like_the_compiler<double>();
}

// numpy.finfo("float16"), torch.finfo(torch.bfloat16)
BOOST_AUTO_TEST_CASE(the_narrow_ones_are_as_numpy_and_torch_say) {
  const FInfo half = mezzo::finfo(DType::float16);
  BOOST_TEST(half.bits == 16);
  BOOST_TEST(half.digits == 3);
  BOOST_TEST(half.resolution == 0.001);
  BOOST_TEST(half.eps == 0.0009765625);
  BOOST_TEST(half.max == 65504);
  BOOST_TEST(half.smallest_normal == 6.103515625e-05);
  BOOST_TEST(half.smallest_subnormal == 5.9604644775390625e-08);
  const FInfo brain = mezzo::finfo(DType::bfloat16);
  BOOST_TEST(brain.bits == 16);
  BOOST_TEST(brain.digits == 2);
  BOOST_TEST(brain.resolution == 0.01);
  BOOST_TEST(brain.eps == 0.0078125);
  BOOST_TEST(brain.max == 3.3895313892515355e+38);
  BOOST_TEST(brain.min == -3.3895313892515355e+38);
  BOOST_TEST(brain.smallest_normal == 1.1754943508222875e-38);
  BOOST_TEST(brain.smallest_subnormal == 9.183549615799121e-41);
}

BOOST_AUTO_TEST_CASE(the_numbers_are_the_last_that_a_dtype_holds) {
  for (const DType dtype : mezzo_tests::float_dtypes) {
    const FInfo info = mezzo::finfo(dtype);
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto rounded = [](double x) { return convert<double>(convert<T>(x)); };
      if constexpr (!std::is_same_v<T, bool>) {
        for (const double x : {1 + info.eps, info.max, info.min, info.smallest_normal, info.smallest_subnormal}) {
          BOOST_TEST(rounded(x) == x);
        }
        BOOST_TEST(rounded(1 + info.eps / 2) == 1);
        BOOST_TEST(rounded(info.smallest_subnormal / 2) == 0);
      }
    });
  }
}

BOOST_AUTO_TEST_CASE(other_dtypes_are_refused) {
  mezzo_tests::check_throws<DTypeError>(
      "[finfo] dtype must be float8_e4m3fn, float8_e5m2, float16, bfloat16, float32 or float64; got int32",
      [] { mezzo::finfo(DType::int32); });
}

BOOST_AUTO_TEST_SUITE_END()
