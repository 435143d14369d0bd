#include <boost/test/unit_test.hpp>

#include <cmath>
#include <regex>

#include <mezzo/core/error.hpp>
#include <mezzo/report/display/chart_data.hpp>
#include <mezzo/report/display/line_chart.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

const History& example() {
  static const History history{{0, 1, 2}, {{"loss", {2, 1, 0.5}}, {"val_loss", {1.5, 1.25, 1}}}};
  return history;
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

using Strings = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(line_chart)

BOOST_AUTO_TEST_CASE(each_number_is_a_point_at_its_place) {
  const std::string svg = LineChart(example(), {.names = {"loss"}, .width = 272, .height = 272}).svg();
  BOOST_TEST(
      matches(svg, "<title>(.*)</title>") == (Strings{"loss, epoch 0: 2", "loss, epoch 1: 1", "loss, epoch 2: 0.5"}),
      boost::test_tools::per_element());
  // The plot area of 200 x 200 pixels covers epochs 0 to 2 and numbers 0.5 to 2.
  BOOST_TEST(matches(svg, "cx=\"([^\"]*)") == (Strings{"56.0", "156.0", "256.0"}), boost::test_tools::per_element());
  BOOST_TEST(matches(svg, "cy=\"([^\"]*)") == (Strings{"32.0", "165.3", "232.0"}), boost::test_tools::per_element());
  BOOST_TEST(matches(svg, "path d=\"([^\"]*)\" fill").at(0) == "M56.0 32.0L156.0 165.3L256.0 232.0");
  BOOST_TEST(matches(svg, "\"end\">([^<]*)") == (Strings{"0.5", "1", "1.5", "2", "loss"}),
             boost::test_tools::per_element());
  BOOST_TEST(matches(svg, "\"middle\">([^<]*)") == (Strings{"0", "1", "2", "epoch"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(all_names_are_drawn_unless_some_are_chosen) {
  BOOST_TEST(matches(LineChart(example()).svg(), "<title>([^,]*)").size() == 6U);
  const std::string one = LineChart(example(), {.names = {"val_loss"}, .title = "a < b"}).svg();
  BOOST_TEST(matches(one, "<title>(val_loss),").size() == 3U);
  BOOST_TEST(matches(one, "<title>([^,]*)").size() == 3U);
  BOOST_TEST(one.find(">a &lt; b</text>") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_gaps) {
  const double nan = std::nan("");
  const std::string svg = LineChart(History{{0, 1, 2, 3}, {{"loss", {1, nan, 3, HUGE_VAL}}}}).svg();
  BOOST_TEST(matches(svg, "<title>(.*)</title>") == (Strings{"loss, epoch 0: 1", "loss, epoch 2: 3"}),
             boost::test_tools::per_element());
  const std::string path = matches(svg, "path d=\"([^\"]*)\" fill").at(0);
  BOOST_TEST(path.find('L') == std::string::npos);
  BOOST_TEST(matches(LineChart(History{{0}, {{"loss", {nan}}}}).svg(), "<(circle)").empty());
}

BOOST_AUTO_TEST_CASE(an_axis_has_room_for_one_number) {
  for (const double number : {0.0, 3.0, -1e-12, 1e300}) {
    const std::string svg = LineChart(History{{4}, {{"loss", {number}}}}).svg();
    BOOST_TEST_CONTEXT(number) {
      BOOST_TEST(svg.find("nan") == std::string::npos);
      BOOST_TEST(svg.find("inf") == std::string::npos);
      BOOST_TEST(matches(svg, "cx=\"([^\"]*)").at(0) == "260.0");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_axis_of_epochs_has_at_most_eleven_marks) {
  for (int last = 1; last < 200; ++last) {
    const detail::Axis axis = detail::epoch_axis(0, last);
    BOOST_TEST(axis.marks.size() <= 11U, "epochs 0 to " << last);
    BOOST_TEST(axis.marks.size() >= 2U, "epochs 0 to " << last);
  }
}

BOOST_AUTO_TEST_CASE(a_notebook_gets_svg_and_text) {
  const MimeBundle mime = LineChart(example()).mime();
  BOOST_TEST(mime.size() == 2U);
  BOOST_TEST(mime.at("image/svg+xml") == LineChart(example()).svg());
  BOOST_TEST(mime.at("text/plain").substr(0, 21) == "epoch  loss  val_loss");
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  check_throws<NameError>("[LineChart] unknown name \"acc\"; valid names: loss, val_loss",
                          [] { LineChart(example(), {.names = {"acc"}}); });
  check_throws<ValueError>("[LineChart] the history must have epochs and names; got 0 and 0",
                           [] { LineChart(History{}); });
  check_throws<ValueError>("[LineChart] \"loss\" must have a number for each of 2 epochs; got 1", [] {
    LineChart(History{{0, 1}, {{"loss", {1}}}});
  });
  check_throws<ValueError>("[LineChart] width and height must be at least 200; got 199, 300",
                           [] { LineChart(example(), {.width = 199}); });
}

BOOST_AUTO_TEST_SUITE_END()
