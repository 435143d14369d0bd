#include <boost/test/unit_test.hpp>

#include <sstream>

#include <mezzo/core/error.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/shape_view.hpp>

#include "support/throws.hpp"

using mezzo::Shape;
using mezzo_tests::check_throws;

BOOST_AUTO_TEST_SUITE(shape)

BOOST_AUTO_TEST_CASE(prints_as_numpy_does) {
  BOOST_TEST(mezzo::to_string(Shape{}) == "()");
  BOOST_TEST(mezzo::to_string({3}) == "(3,)");
  BOOST_TEST(mezzo::to_string({-1, 28, 28}) == "(?, 28, 28)");
  std::ostringstream out;
  out << mezzo::Shape{-1, 28, 28};
  BOOST_TEST(out.str() == "(?, 28, 28)");
}

BOOST_AUTO_TEST_CASE(counts_elements) {
  BOOST_TEST(mezzo::element_count({}) == 1);
  BOOST_TEST(mezzo::element_count({2, 0, 3}) == 0);
  BOOST_TEST(mezzo::element_count({2, -1}) == -1);
  const std::int64_t large = std::int64_t{1} << 40;
  BOOST_TEST(mezzo::element_count({large, large, 0}) == 0);
  check_throws<mezzo::ShapeError>("a shape must have less than 2^63 elements; got (1099511627776, 1099511627776)", [&] {
    mezzo::element_count({large, large});
  });
}

BOOST_AUTO_TEST_CASE(broadcasts_from_the_end) {
  BOOST_TEST(mezzo::broadcast({4, 1, 3}, {2, 1}, "[add]") == (Shape{4, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(mezzo::broadcast({}, {0}, "[add]") == (Shape{0}), boost::test_tools::per_element());
  BOOST_TEST(mezzo::broadcast({-1, 3}, {1, 3}, "[add]") == (Shape{-1, 3}), boost::test_tools::per_element());
  check_throws<mezzo::ShapeError>("[add] shapes must be equal or 1 on axis -2; got (2, 3) and (4, 3)", [] {
    mezzo::broadcast({2, 3}, {4, 3}, "[add]");
  });
}

BOOST_AUTO_TEST_CASE(strides_are_row_major) {
  BOOST_TEST(mezzo::detail::row_major_strides({2, 3, 4}) == (Shape{12, 4, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(axes_count_from_both_ends) {
  BOOST_TEST(mezzo::detail::normalize_axis(-1, 3, "[sum]") == 2);
  BOOST_TEST(mezzo::detail::normalize_axis(0, 3, "[sum]") == 0);
  check_throws<mezzo::ShapeError>("[sum] axis must lie in [-3, 3); got 3",
                                  [] { mezzo::detail::normalize_axis(3, 3, "[sum]"); });
}

BOOST_AUTO_TEST_CASE(indices_count_from_both_ends_and_are_checked) {
  Shape shape{2, 3, 5};
  BOOST_TEST(shape[0] == 2);
  BOOST_TEST(shape[std::size_t{2}] == 5);
  BOOST_TEST(shape[-1] == 5);
  BOOST_TEST(shape.at(-3) == 2);
  BOOST_TEST(shape.back() == 5);
  shape[-2] = 7;
  BOOST_TEST(shape == (Shape{2, 7, 5}), boost::test_tools::per_element());
  const std::string must = ": an axis must lie in [-3, 3)";
  check_throws<mezzo::ShapeError>("[Shape] axis 3 of shape (2, 7, 5)" + must, [&] { shape[3] = 1; });
  check_throws<mezzo::ShapeError>("[Shape] axis -4 of shape (2, 7, 5)" + must, [&] { shape[-4] = 1; });
  const std::string below = ": an unsigned axis must be below 3";  // unsigned: no count from the end
  check_throws<mezzo::ShapeError>("[Shape] axis 3 of shape (2, 7, 5)" + below, [&] { shape[std::size_t{3}] = 1; });
  check_throws<mezzo::ShapeError>("[Shape] axis 18446744073709551615 of shape (2, 7, 5)" + below,
                                  [&] { shape[shape.size() - 4] = 1; });
  check_throws<mezzo::ShapeError>("[Shape] axis 0 of shape (): a scalar has no axes", [] { Shape().front() = 1; });
  check_throws<mezzo::ShapeError>("[Shape] axis -1 of shape (): a scalar has no axes", [] { Shape().back() = 1; });
}

BOOST_AUTO_TEST_CASE(indices_of_enums_are_their_numbers) {
  enum Axis { rows, columns };
  enum FromEnd : int { last = -1 };
  const Shape shape{2, 3, 5};
  BOOST_TEST(shape[columns] == 3);
  BOOST_TEST(shape[last] == 5);
  check_throws<mezzo::ShapeError>("[Shape] axis 0 of shape (): a scalar has no axes",
                                  [] { static_cast<void>(Shape()[rows]); });
}

BOOST_AUTO_TEST_CASE(views_of_shapes_are_checked_too) {
  static_assert(std::is_constructible_v<mezzo::ShapeView, const Shape&>);
  static_assert(!std::is_constructible_v<mezzo::ShapeView, std::vector<std::int64_t>&>);  // by a temporary Shape
  const Shape shape{2, -1, 5};
  const mezzo::ShapeView view(shape);
  BOOST_TEST(view[-1] == 5);
  BOOST_TEST(view.back() == 5);
  BOOST_TEST(!view[-2].known());
  check_throws<mezzo::ShapeError>("[Shape] axis 3 of shape (2, ?, 5): an axis must lie in [-3, 3)",
                                  [&] { static_cast<void>(view[3]); });
}

BOOST_AUTO_TEST_SUITE_END()
