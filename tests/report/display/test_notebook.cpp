#include <boost/test/unit_test.hpp>

#include <mezzo/report/display/notebook.hpp>

namespace {

// Mimics xeus-cling: its default overload, unless argument-dependent lookup finds a better one.
template <class T>
nlohmann::json mime_bundle_repr(const T&) {
  return "the kernel's own";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(notebook)

BOOST_AUTO_TEST_CASE(the_kernel_finds_what_a_type_shows) {
  const mezzo::Tensor tensor({1}, std::vector<float>{2});
  BOOST_TEST(mime_bundle_repr(tensor) == (nlohmann::json{{"text/plain", "float32 (1,)\n[2]"}}));
  const mezzo::History history{{0}, {{"loss", {2}}}};
  BOOST_TEST(mime_bundle_repr(history) == (nlohmann::json{{"text/plain", mezzo::to_text(history)}}));
  const nlohmann::json chart = mime_bundle_repr(mezzo::LineChart(history));
  BOOST_TEST(chart.size() == 2U);
  BOOST_TEST(chart.at("image/svg+xml").get<std::string>().substr(0, 4) == "<svg");
  const nlohmann::json grid = mime_bundle_repr(mezzo::ImageGrid(tensor.reshape({1, 1, 1})));
  BOOST_TEST(grid.at("image/png").is_string());
  const mezzo::PrecisionReport report;
  BOOST_TEST(mime_bundle_repr(report) == (nlohmann::json(report.mime())));
  const mezzo::PolicySuggestion suggestion;
  BOOST_TEST(mime_bundle_repr(suggestion) == (nlohmann::json{{"text/plain", suggestion.text()}}));
  BOOST_TEST(mime_bundle_repr(1) == "the kernel's own");
}

BOOST_AUTO_TEST_SUITE_END()
