#include <boost/test/unit_test.hpp>

#include <limits>

#include <mezzo/data/struct_dataset.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using boost::test_tools::per_element;
using mezzo_tests::check_throws;
using Numbers = std::vector<double>;

namespace {

enum class Size : std::uint16_t { small = 1, large = 60000 };

struct Row {
  double x = 0;
  bool good = false;
  std::uint64_t id = 0;
  Size size = Size::small;
  std::array<std::array<float, 2>, 2> corners{};
  std::int16_t pair[2] = {0, 0};
  std::vector<std::int64_t> tokens{};
  std::vector<bool> flags{};
  std::string color{};
};

std::vector<Row> struct_rows() {
  return {{1.5, true, 7, Size::large, {{{1, 2}, {3, 4}}}, {5, 6}, {7, 8, 9}, {true, false}, "red"},
          {2.5, false, 8, Size::small, {{{5, 6}, {7, 8}}}, {-1, -2}, {1, 2, 3}, {false, false}, "blue"}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(struct_datasets)

BOOST_AUTO_TEST_CASE(each_kind_of_member_is_a_field) {
  const std::vector<Row> rows = struct_rows();
  const Dataset data = struct_dataset(rows, {{"x", &Row::x},
                                             {"good", &Row::good, Role::target},
                                             {"id", &Row::id},
                                             {"size", &Row::size},
                                             {"corners", &Row::corners},
                                             {"pair", &Row::pair},
                                             {"tokens", &Row::tokens},
                                             {"flags", &Row::flags},
                                             {"color", &Row::color},
                                             {"half", [](const Row& row) { return static_cast<float>(row.x / 2); }}});
  const HostBatch batch = data.gather({1, 0});
  const auto check = [&](const char* name, const char* kind, const Numbers& expected) {
    BOOST_TEST(batch[name].describe() == kind);
    BOOST_TEST(batch[name].to_doubles() == expected, per_element());
  };
  check("x", "float64 (2,)", {2.5, 1.5});
  check("good", "bool (2,)", {0, 1});
  check("id", "int64 (2,)", {8, 7});
  check("size", "int32 (2,)", {1, 60000});
  check("corners", "float32 (2, 2, 2)", {5, 6, 7, 8, 1, 2, 3, 4});
  check("pair", "int16 (2, 2)", {-1, -2, 5, 6});
  check("tokens", "int64 (2, 3)", {1, 2, 3, 7, 8, 9});
  check("flags", "bool (2, 2)", {0, 0, 1, 0});
  check("color", "int64 (2,)", {0, 1});  // blue, red
  check("half", "float32 (2,)", {1.25, 0.75});
  BOOST_TEST((data.fields()[1].role == Role::target && data.fields()[0].role == Role::input));
  const Dataset ordered = struct_dataset(rows, {{"color", &Row::color, Role::target, {"red", "green", "blue"}}});
  BOOST_TEST(ordered.gather({0, 1})["color"].to_doubles() == (Numbers{0, 2}), per_element());
}

BOOST_AUTO_TEST_CASE(struct_errors) {
  std::vector<Row> rows = struct_rows();
  const std::string where = "[struct_dataset] ";
  rows[1].tokens.pop_back();
  check_throws<ShapeError>(where + "row 1: field \"t\" must have 3 elements, as the first one; got 2", [&] {
    struct_dataset(rows, {{"t", &Row::tokens}});
  });
  rows[1].id = std::numeric_limits<std::uint64_t>::max();
  check_throws<ValueError>(where + "row 1: field \"id\" must be below 2^63; got 18446744073709551615", [&] {
    struct_dataset(rows, {{"id", &Row::id}});
  });
  check_throws<ValueError>(where + "row 1: field \"color\" must be one of red, green; got \"blue\"", [&] {
    struct_dataset(rows, {{"color", &Row::color, Role::input, {"red", "green"}}});
  });
  check_throws<ValueError>(where + "categories of field \"color\" must differ; got \"red\" twice", [&] {
    struct_dataset(rows, {{"color", &Row::color, Role::input, {"red", "red"}}});
  });
  check_throws<ValueError>(where + "field \"x\" must have strings to have categories; it has numbers", [&] {
    struct_dataset(rows, {{"x", &Row::x, Role::input, {"red"}}});
  });
  check_throws<ValueError>(where + "there must be at least 1 row; got none", [] {
    struct_dataset(std::vector<Row>(), {{"x", &Row::x}});
  });
  check_throws<ValueError>(where + "a field must have a name; got \"\"", [&] {
    struct_dataset(rows, {{"", &Row::x}});
  });
  const std::string empty = where + "field \"x\" must have a member or a function; got an empty one";
  check_throws<ValueError>(empty, [&] { struct_dataset(rows, {{"x", std::function<float(const Row&)>()}}); });
  double Row::*const none = nullptr;
  check_throws<ValueError>(empty, [&] { struct_dataset(rows, {{"x", none}}); });
  BOOST_CHECK_THROW(struct_dataset(rows, {{"x", &Row::x}, {"x", &Row::id}}), ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
