#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <mezzo/core/dynamic_code.hpp>

#include "support/recorded.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::DynamicCode;

namespace {

struct Block {
  std::vector<std::uint8_t> codes;
  float scale;
};

Block encoded(const DynamicCode& code, const std::vector<float>& x) {
  Block out{std::vector<std::uint8_t>(x.size()), 0};
  out.scale = code.encode(x.data(), static_cast<std::int64_t>(x.size()), out.codes.data());
  return out;
}

std::vector<float> decoded(const DynamicCode& code, const Block& block) {
  std::vector<float> out(block.codes.size());
  code.decode(block.codes.data(), block.scale, out.data(), static_cast<std::int64_t>(out.size()));
  return out;
}

// Numbers of bitsandbytes' table, ascending.
std::vector<float> table(const char* name) {
  std::vector<float> out;
  for (const std::uint32_t bits :
       recorded("number_formats").at("bitsandbytes").at(name).get<std::vector<std::uint32_t>>()) {
    std::memcpy(&out.emplace_back(), &bits, sizeof bits);
  }
  return out;
}

std::vector<float> ascending(const DynamicCode& code) {
  std::vector<float> out(code.values, code.values + 256);
  std::sort(out.begin(), out.end());
  return out;
}

// The nearest number of the table to x, by distances in double.
float nearest(const std::vector<float>& numbers, double x) {
  return *std::min_element(numbers.begin(), numbers.end(),
                           [&](float a, float b) { return std::abs(a - x) < std::abs(b - x); });
}

// Numbers of one block of scale 1: those between all codes, random ones of all magnitudes, and 1.
std::vector<std::vector<float>> blocks(const DynamicCode& code) {
  std::vector<float> all;
  const std::vector<float> numbers = ascending(code);
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    const float middle = (numbers[i] + numbers[i + 1]) / 2;
    all.insert(all.end(), {numbers[i], std::nextafter(middle, 2.0F), std::nextafter(middle, -2.0F)});
  }
  const Tensor random = random_tensor({20000}, DType::float32, 3, -9, 0);
  for (std::int64_t i = 0; i < random.size(); ++i) {
    const float x = std::pow(10.0F, random.data<float>()[i]);
    all.push_back(code.has_sign && i % 2 == 0 ? -x : x);
  }
  std::vector<std::vector<float>> out;
  for (std::size_t i = 0; i < all.size(); i += 255) {
    out.push_back({1});
    out.back().insert(out.back().end(), all.begin() + static_cast<std::ptrdiff_t>(i),
                      all.begin() + static_cast<std::ptrdiff_t>(std::min(i + 255, all.size())));
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dynamic_code)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_bitsandbytes) {
  // Its table is a result of float32 arithmetic, which differs from CPU to CPU in the last bit.
  for (const auto& [dtype, name] : {std::pair(DType::int8, "signed"), std::pair(DType::uint8, "unsigned")}) {
    const std::vector<float> numbers = ascending(DynamicCode::of(dtype)), expected = table(name);
    for (std::size_t i = 0; i < 256; ++i) {
      BOOST_TEST(std::abs(numbers[i] - expected[i]) <= 4e-7F * std::abs(expected[i]), name << " " << i);
    }
  }
}

BOOST_AUTO_TEST_CASE(codes_ascend) {
  for (int i = -128; i < 127; ++i) {
    const auto* const values = DynamicCode::of(DType::int8).values;
    BOOST_TEST(values[i & 0xff] < values[(i + 1) & 0xff]);
    if (i >= 0) BOOST_TEST(DynamicCode::of(DType::uint8).values[i] < DynamicCode::of(DType::uint8).values[i + 1]);
  }
}

BOOST_AUTO_TEST_CASE(rounds_to_nearest) {
  for (const DType dtype : {DType::int8, DType::uint8}) {
    const DynamicCode& code = DynamicCode::of(dtype);
    const std::vector<float> numbers = ascending(code);
    int wrong = 0;
    for (const std::vector<float>& block : blocks(code)) {
      const Block bits = encoded(code, block);
      BOOST_TEST(bits.scale == 1);
      const std::vector<float> back = decoded(code, bits);
      for (std::size_t i = 0; i < block.size(); ++i) {
        float expected = nearest(numbers, static_cast<double>(block[i]));
        if (!code.has_sign && block[i] > 0 && expected == 0) expected = numbers[1];  // squares don't become 0
        // A number that lies between two codes up to the rounding of float32 may get either.
        const double distance = std::abs(static_cast<double>(back[i]) - static_cast<double>(block[i]));
        const double least = std::abs(static_cast<double>(expected) - static_cast<double>(block[i]));
        wrong += distance > least * 1.0001 ? 1 : 0;
      }
    }
    BOOST_TEST(wrong == 0, dtype_name(dtype));
  }
}

BOOST_AUTO_TEST_CASE(decoded_numbers_have_the_same_codes) {
  for (const DType dtype : {DType::int8, DType::uint8}) {
    const DynamicCode& code = DynamicCode::of(dtype);
    for (const double size : {1e-25, 1e-3, 1.0, 7e20, 1e38}) {
      for (const bool negative : {false, true}) {
        if (negative && !code.has_sign) continue;
        const Tensor x = random_tensor({256}, DType::float32, 5, code.has_sign ? -size : 0, size);
        std::vector<float> block(x.data<float>(), x.data<float>() + 256);
        block[17] = static_cast<float>(negative ? -2 * size : 2 * size);
        const Block once = encoded(code, block), twice = encoded(code, decoded(code, once));
        BOOST_TEST(once.scale == block[17]);
        BOOST_TEST(once.scale == twice.scale);
        BOOST_TEST((once.codes == twice.codes));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_make_their_block_nan) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const DType dtype : {DType::int8, DType::uint8}) {
    for (const float x : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
      for (const float y : decoded(DynamicCode::of(dtype), encoded(DynamicCode::of(dtype), {0, 1, x, 2}))) {
        BOOST_TEST(std::isnan(y));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(zeros_and_tiny_numbers) {
  for (const DType dtype : {DType::int8, DType::uint8}) {
    const DynamicCode& code = DynamicCode::of(dtype);
    for (const float x : {0.0F, -0.0F, 1e-45F, 1e-30F}) {
      const Block block = encoded(code, {0, x, 0});
      BOOST_TEST(block.scale == 0);
      for (const std::uint8_t bits : block.codes) BOOST_TEST(bits == code.zero);
      for (const float y : decoded(code, block)) BOOST_TEST(y == 0);
    }
    BOOST_TEST((encoded(code, {}).scale == 0));
    BOOST_TEST(decoded(code, encoded(code, {5, 0}))[1] == 0);
  }
  BOOST_TEST(decoded(DynamicCode::of(DType::uint8), encoded(DynamicCode::of(DType::uint8), {1, 1e-40F}))[1] > 0);
}

BOOST_AUTO_TEST_SUITE_END()
