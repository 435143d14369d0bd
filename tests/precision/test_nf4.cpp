#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <mezzo/core/float_bits.hpp>
#include <mezzo/precision/nf4.hpp>

#include "support/recorded.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::vector<float> round_trip(const std::vector<float>& x) {
  const auto count = static_cast<std::int64_t>(x.size());
  std::vector<std::uint8_t> codes((x.size() + 1) / 2);
  std::vector<float> scales((x.size() + 63) / 64), out(x.size());
  nf4_encode(x.data(), count, codes.data(), scales.data());
  nf4_decode(codes.data(), scales.data(), count, out.data());
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nf4)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_bitsandbytes) {
  const auto& expected = recorded("number_formats").at("bitsandbytes").at("nf4").get<std::vector<std::uint32_t>>();
  std::vector<std::uint32_t> bits;
  for (const float value : nf4_values) bits.push_back(detail::bits_of(value));
  BOOST_TEST(bits == expected);
}

BOOST_AUTO_TEST_CASE(rounds_to_nearest) {
  const Tensor x = random_tensor({1001}, DType::float32, 1, -3, 3);
  const std::vector<float> numbers(x.data<float>(), x.data<float>() + x.size());
  const std::vector<float> back = round_trip(numbers);
  for (std::size_t begin = 0; begin < numbers.size(); begin += 64) {
    const std::size_t end = std::min(begin + 64, numbers.size());
    float scale = 0;
    for (std::size_t i = begin; i < end; ++i) scale = std::max(scale, std::abs(numbers[i]));
    for (std::size_t i = begin; i < end; ++i) {
      for (const float value : nf4_values) {
        BOOST_TEST(std::abs(back[i] - numbers[i]) <= std::abs(value * scale - numbers[i]) * 1.000001F + 1e-7F);
      }
    }
  }
  BOOST_TEST((round_trip(back) == back));
}

BOOST_AUTO_TEST_CASE(first_code_in_the_high_bits) {
  const std::vector<float> x{-1, 1, 0};
  std::uint8_t codes[2];
  float scale = 0;
  nf4_encode(x.data(), 3, codes, &scale);
  BOOST_TEST(int{codes[0]} == 0x0f);
  BOOST_TEST(int{codes[1]} == 0x70);
  BOOST_TEST(scale == 1);
}

BOOST_AUTO_TEST_CASE(extreme_blocks) {
  for (const float x : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> block(100, 1);
    block[3] = x;
    const std::vector<float> back = round_trip(block);
    for (std::size_t i = 0; i < block.size(); ++i) BOOST_TEST(std::isnan(back[i]) == (i < 64));
  }
  BOOST_TEST((round_trip({0, 0}) == std::vector<float>{0, 0}));
  BOOST_TEST(round_trip({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
