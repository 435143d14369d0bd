#include <boost/test/unit_test.hpp>

#include <iterator>
#include <sstream>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::refused;

namespace {

/// Paragraphs of a profile: kernels, sums by op, the last line.
struct Text {
  explicit Text(const std::string& text) : parts(1) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      if (line.empty()) {
        parts.emplace_back();
      } else {
        parts.back().push_back(line);
      }
    }
  }

  std::vector<std::vector<std::string>> parts;
};

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Number of lines that begin with a word.
int count(const std::vector<std::string>& lines, const std::string& word) {
  int found = 0;
  for (const std::string& line : lines) found += words(line).front() == word ? 1 : 0;
  return found;
}

/// Number before the first percent sign of a line.
double percent(const std::string& line) {
  const std::size_t end = line.find(" %");
  const std::size_t begin = line.rfind(' ', end - 1);
  return std::stod(line.substr(begin == std::string::npos ? 0 : begin));
}

Sequential trained(const char* policy, int steps) {
  Sequential model({Conv2D({.filters = 4, .kernel_size = 3, .activation = "relu", .name = "conv"}), Flatten(),
                    Dense({.units = 2, .name = "head"})},
                   {.dtype = policy});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(Tensor({2 * steps, 8, 8, 3}), Tensor({2 * steps, 2}), {.batch_size = 2, .verbose = false});
  return model;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile)

BOOST_AUTO_TEST_CASE(the_first_step_is_not_counted) {
  Sequential model = trained("float32", 1);
  BOOST_TEST(refused<ValueError>([&] { model.explain({.profile = true}); }) ==
             "[Sequential] explain: a profile needs 2 steps or more, since the first isn't counted; got 1");
}

BOOST_AUTO_TEST_CASE(kernels_in_order_then_sums_then_the_share) {
  Sequential model = trained("float32", 4);
  const Text text(model.explain({.profile = true}));
  BOOST_TEST_REQUIRE(text.parts.size() == 3U);
  const auto& kernels = text.parts[0];
  BOOST_TEST(words(kernels[0]) == (std::vector<std::string>{"op", "layer", "us", "share", "GFLOP/s", "GB/s", "KiB",
                                                            "kernel", "outputs"}),
             boost::test_tools::per_element());
  BOOST_TEST(count(kernels, "conv2d") == 1);
  BOOST_TEST(count(kernels, "adam_update") == 4);
  for (const char* chore : {"(binding)", "(compute", "(gates)", "(commits)"}) BOOST_TEST(count(kernels, chore) == 1);
  BOOST_TEST(words(kernels[2]).at(1) == "conv");  // kernels are in the order of the plan
  BOOST_TEST(text.parts[2].size() == 1U);
  BOOST_TEST(text.parts[2][0].find("the mean of 3 after the first") != std::string::npos);
  BOOST_TEST(percent(text.parts[2][0]) > 0);
  BOOST_TEST(percent(text.parts[2][0]) <= 100.05);
}

BOOST_AUTO_TEST_CASE(each_op_has_one_sum_and_the_slowest_is_first) {
  Sequential model = trained("mixed_bfloat16", 4);
  const Text text(model.explain({.profile = true}));
  const auto& sums = text.parts[1];
  BOOST_TEST(words(sums[0]) == (std::vector<std::string>{"op", "kernels", "us", "share", "GFLOP/s", "GB/s", "KiB"}),
             boost::test_tools::per_element());
  BOOST_TEST(count(sums, "adam_update") == 1);
  BOOST_TEST(count(sums, "(binding)") == 1);
  double before = 1000, total = 0;
  for (std::size_t i = 2; i < sums.size(); ++i) {
    BOOST_TEST(percent(sums[i]) <= before);
    before = percent(sums[i]);
    total += before;
  }
  BOOST_TEST(total == percent(text.parts[2][0]), boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(one_line_tells_why_better_kernels_were_passed_over) {
  Sequential model = trained("float64", 2);
  const Text text(model.explain({.profile = true}));
  int reasons = 0;
  for (const std::string& line : text.parts[0]) {
    const bool is_reason = line.rfind("    not ", 0) == 0;
    reasons += is_reason && line.find("not onednn: ") != std::string::npos ? 1 : 0;
  }
  BOOST_TEST(reasons > 0);
}

BOOST_AUTO_TEST_SUITE_END()
