#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/report/display/text.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(a_tensor_is_printed_as_numpy_does) {
  BOOST_TEST(to_text(Tensor({2, 2}, std::vector<float>{1, 2.5F, -3, 1.0F / 3})) ==
             "float32 (2, 2)\n[[1, 2.5],\n [-3, 0.333333]]");
  BOOST_TEST(to_text(Tensor({2, 1, 2}, std::vector<std::int64_t>{1, 2, 3, 9007199254740993})) ==
             "int64 (2, 1, 2)\n[[[1, 2]],\n [[3, 9007199254740993]]]");
  BOOST_TEST(to_text(Tensor({}, std::vector<double>{std::nan("")})) == "float64 ()\nnan");
  BOOST_TEST(to_text(Tensor({2}, std::vector<float>{1, 0}).cast(DType::boolean)) == "bool (2,)\n[true, false]");
  BOOST_TEST(to_text(Tensor({2}, DType::uint8)) == "uint8 (2,)\n[0, 0]");
  BOOST_TEST(to_text(Tensor({1}, std::vector<float>{1.5}).cast(DType::bfloat16)) == "bfloat16 (1,)\n[1.5]");
  BOOST_TEST(to_text(Tensor({0, 3})) == "float32 (0, 3)\n[]");
}

BOOST_AUTO_TEST_CASE(of_a_large_tensor_the_edges_are_printed) {
  std::vector<std::int32_t> numbers(1001);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  const Tensor all({1001}, numbers);
  BOOST_TEST(to_text(all) == "int32 (1001,)\n[0, 1, 2, ..., 998, 999, 1000]");
  BOOST_TEST(to_text(all.reshape({143, 7})) ==
             "int32 (143, 7)\n[[0, 1, 2, ..., 4, 5, 6],\n [7, 8, 9, ..., 11, 12, 13],\n [14, 15, 16, ..., 18, 19, "
             "20],\n ...,\n"
             " [980, 981, 982, ..., 984, 985, 986],\n [987, 988, 989, ..., 991, 992, 993],\n"
             " [994, 995, 996, ..., 998, 999, 1000]]");
  const std::string whole = to_text(all.slice(0, 1000));
  BOOST_TEST(whole.find("...") == std::string::npos);
  BOOST_TEST(whole.find(", 500, ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_history_is_a_table) {
  const History history{{0, 1}, {{"loss", {0.75, 1.0 / 3}}, {"val_loss", {10, std::nan("")}}}};
  BOOST_TEST(to_text(history) == R"(epoch      loss  val_loss
-------------------------
    0      0.75        10
    1  0.333333       nan)");
  check_throws<ValueError>("[to_text] \"loss\" must have a number for each of 2 epochs; got 1", [] {
    to_text(History{{0, 1}, {{"loss", {1}}}});
  });
}

BOOST_AUTO_TEST_SUITE_END()
