#include <boost/test/unit_test.hpp>

#include <mezzo/graph/attributes.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(attributes)

BOOST_AUTO_TEST_CASE(are_found_by_name_and_type) {
  Attributes attributes{{"rate", 0.5}, {"axis", std::int64_t{2}}, {"padding", std::string("same")}};
  BOOST_TEST(attributes.get<double>("rate") == 0.5);
  BOOST_TEST(attributes.get<std::int64_t>("axis") == 2);
  BOOST_TEST(attributes.get_or<bool>("keepdims", true));
  check_throws<NameError>("unknown attribute \"keepdims\"; valid names: rate, axis, padding",
                          [&] { attributes.get<bool>("keepdims"); });
  check_throws<DTypeError>("attribute \"rate\" must be read as its type, double; got another type",
                           [&] { attributes.get<bool>("rate"); });
  check_throws<DTypeError>("attribute \"rate\" must be read as its type, double; got another type",
                           [&] { attributes.get_or<bool>("rate", true); });
}

BOOST_AUTO_TEST_CASE(are_added_or_replaced) {
  Attributes attributes{{"a", 1.0}};
  attributes.set("a", 2.0);
  attributes.set("b", true);
  BOOST_TEST(attributes.entries().size() == 2U);
  BOOST_TEST(attributes.get<double>("a") == 2);
  BOOST_TEST(attributes.to_string() == "a=2 b=true");
}

BOOST_AUTO_TEST_CASE(print_for_people) {
  const Attributes attributes{{"strides", Shape{1, 2}},
                              {"dtype", DType::bfloat16},
                              {"groups", std::int64_t{-3}},
                              {"epilogue", detail::Epilogue::relu},
                              {"rate", 0.25}};
  BOOST_TEST(attributes.to_string() == "strides=(1, 2) dtype=bfloat16 groups=-3 epilogue=relu rate=0.25");
  BOOST_TEST(Attributes().to_string().empty());
}

// Caches of kernels and shared subexpressions are keyed by the text.
BOOST_AUTO_TEST_CASE(differ_in_text_where_they_differ) {
  const auto text = [](const detail::Attribute& value) { return Attributes{{"x", value}}.to_string(); };
  BOOST_TEST(text(0.1) != text(0.1 + 0x1p-56));
  BOOST_TEST(text(std::int64_t{1} << 60) != text((std::int64_t{1} << 60) + 1));
  BOOST_TEST(text(Tensor({2}, std::vector<float>{1, 2})) != text(Tensor({2}, std::vector<float>{1, 3})));
  BOOST_TEST(text(Tensor({2}, std::vector<float>{1, 2})) == text(Tensor({2}, std::vector<float>{1, 2})));
  BOOST_TEST(text(Tensor({2})) != text(Tensor({2, 1})));
}

BOOST_AUTO_TEST_SUITE_END()
