#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>

#include <mezzo/backends/xsimd/isa_kernels.hpp>

#include <mezzo/backends/xsimd/conversions.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::size_t all = 65536;

struct Parts {
  std::vector<bfloat16> high, finite_high, low, low_again;

  Parts(Isa isa, const std::vector<float16>& x) : high(x.size()), finite_high(high), low(high), low_again(high) {
    xsimd_kernels::kernels(isa).float16_split.split(x.data(), high.data(), finite_high.data(), low.data(),
                                                    low_again.data(), static_cast<std::int64_t>(x.size()));
  }
};

float number(bfloat16 x) { return static_cast<float>(x); }

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_float16_split)

BOOST_AUTO_TEST_CASE(every_number) {
  std::vector<float16> x(all);
  for (std::size_t i = 0; i < all; ++i) x[i].bits = static_cast<std::uint16_t>(i);
  for_each_isa([&](Isa isa) {
    const Parts parts(isa, x);
    int finite = 0, wrong = 0;
    for (std::size_t i = 0; i < all; ++i) {
      const auto whole = static_cast<float>(x[i]);
      const float high = number(parts.high[i]), low = number(parts.low[i]);
      bool good = low == number(parts.low_again[i]);
      if (std::isfinite(whole)) {
        ++finite;
        good = good && parts.high[i].bits == bfloat16(whole).bits && parts.finite_high[i].bits == parts.high[i].bits &&
               static_cast<double>(high) + static_cast<double>(low) == static_cast<double>(whole);
      } else {
        good = good && low == 0 && number(parts.finite_high[i]) == 0 &&
               (std::isnan(whole) ? std::isnan(high) : high == whole);
      }
      wrong += good ? 0 : 1;
    }
    BOOST_TEST(finite == 63488);
    BOOST_TEST(wrong == 0);
  });
}

BOOST_AUTO_TEST_CASE(any_count) {
  for_each_isa([&](Isa isa) {
    for (const std::int64_t size : xsimd_sizes) {
      std::vector<float16> x(static_cast<std::size_t>(size) + 1, float16(0.3F));  // one more than the count to split
      const Parts expected(isa, std::vector<float16>(64, float16(0.3F)));
      std::vector<bfloat16> out[4];
      for (auto& part : out) part.assign(x.size(), bfloat16(7.0F));
      xsimd_kernels::kernels(isa).float16_split.split(x.data(), out[0].data(), out[1].data(), out[2].data(),
                                                      out[3].data(), size);
      const std::uint16_t bits[] = {expected.high[0].bits, expected.high[0].bits, expected.low[0].bits,
                                    expected.low[0].bits};
      for (int part = 0; part < 4; ++part) {
        bool good = number(out[part].back()) == 7;
        for (std::size_t i = 0; i + 1 < x.size(); ++i) good = good && out[part][i].bits == bits[part];
        BOOST_TEST(good, "part " << part << " of " << size);
      }
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
