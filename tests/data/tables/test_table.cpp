#include <mezzo/data/tables/table.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <sstream>

#include "support/refused.hpp"
#include "tables.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Texts = std::vector<std::string>;

Table people() { return table_of("age,city,income,member\n31,Lyon,0.5,True\n45,,1.5,False\n7,Oslo,,\n"); }

}  // namespace

BOOST_AUTO_TEST_SUITE(table)

BOOST_AUTO_TEST_CASE(made_of_arrays) {
  const Table made({{"x", Tensor({2}, std::vector<float>{1, NAN})}, {"s", Strings{"a", "b"}}});
  BOOST_TEST(made.rows() == 2);
  BOOST_TEST(made["x"].missing() == 1);
  BOOST_TEST(made.line(1) == 0);
  BOOST_TEST(made.describe_row(1) == "row 1");
  BOOST_TEST(refused<NameError>([&] { made["y"]; }) == "[Table] unknown column \"y\"; valid names: x, s");
  BOOST_TEST(refused<ShapeError>([] {
               Table({{"x", Tensor({2})}, {"y", Tensor({3})}});
             }) == "[Table] column \"y\" must have 2 rows, as \"x\" has; got 3");
  BOOST_TEST(refused<ValueError>([] {
               Table({{"x", Tensor({2})}, {"x", Tensor({2})}});
             }) == "[Table] names of columns must differ; got \"x\" twice");
  BOOST_TEST(refused<ShapeError>([] {
               Column(Tensor({2, 1}));
             }) == "[Column] values must have shape (rows,); got shape (2, 1)");
}

BOOST_AUTO_TEST_CASE(categories_differ) {
  const Tensor codes({2}, std::vector<std::int64_t>{0, 1});
  BOOST_TEST(Column::categorical(codes, {"a", "b"}).text(1) == "b");
  BOOST_TEST(refused<ValueError>([&] {
               Column::categorical(codes, {"a", "b", "a"});
             }) == "[Column] categories must differ; got \"a\" twice");
}

BOOST_AUTO_TEST_CASE(rows_and_columns) {
  const Table table = people();
  const Table two = table.range(1, 3);
  BOOST_TEST(texts_of(two["city"]) == (Texts{"-", "Oslo"}), boost::test_tools::per_element());
  BOOST_TEST(two.line(0) == 3);
  BOOST_TEST(texts_of(table.dropna()["age"]) == Texts{"31"});
  BOOST_TEST(texts_of(table.dropna({"income"})["age"]) == (Texts{"31", "45"}), boost::test_tools::per_element());
  BOOST_TEST(table.dropna({"city"}).line(1) == 4);
  BOOST_TEST(table.select({"city", "age"}).columns() == (Texts{"city", "age"}), boost::test_tools::per_element());
  const Table more = table.assign("age", Column(Tensor({3}))).assign("z", Column(Tensor({3})));
  BOOST_TEST(more.columns().size() == 5);
  BOOST_TEST(more["age"].type() == "float32");
  BOOST_TEST(refused<ValueError>([&] { table.range(2, 4); }) ==
             "[Table] rows must satisfy 0 <= begin <= end <= 3; got begin 2, end 4");
}

BOOST_AUTO_TEST_CASE(missing_values_are_filled) {
  const Table filled = people().fillna({{"city", "?"}, {"income", 2.0}, {"member", 1.0}});
  BOOST_TEST(texts_of(filled["city"]) == (Texts{"Lyon", "?", "Oslo"}), boost::test_tools::per_element());
  BOOST_TEST(texts_of(filled["income"]) == (Texts{"0.5", "1.5", "2"}), boost::test_tools::per_element());
  BOOST_TEST(texts_of(filled["member"]) == (Texts{"true", "false", "true"}), boost::test_tools::per_element());
  BOOST_TEST(filled["income"].missing() == 0);
  BOOST_TEST(people()["income"].mean() == 1);
  BOOST_TEST(people()["age"].median() == 31);
  BOOST_TEST(people().range(0, 2)["age"].median() == 38);
  BOOST_TEST(std::isnan(people().range(2, 3)["income"].mean()));
  BOOST_TEST(refused<DTypeError>([] { people()["city"].median(); }) == "[Column] type must be a number's; got str");
  BOOST_TEST(refused<ValueError>([] { people()["member"].fillna(2); }) ==
             "[Column] the value for missing ones must fit bool; got 2");
  BOOST_TEST(refused<DTypeError>([] { people()["city"].fillna(2); }) ==
             "[Column] a column of str is filled with a text");
}

BOOST_AUTO_TEST_CASE(categories_are_sorted) {
  const Column cities = people()["city"].astype("category");
  BOOST_TEST(cities.categories() == (Texts{"Lyon", "Oslo"}), boost::test_tools::per_element());
  BOOST_TEST(cities.values().equal(Tensor({3}, std::vector<std::int64_t>{0, -1, 1})));
  BOOST_TEST(texts_of(cities.fillna("?")) == (Texts{"Lyon", "?", "Oslo"}), boost::test_tools::per_element());
  BOOST_TEST(texts_of(cities.astype("str")) == (Texts{"Lyon", "-", "Oslo"}), boost::test_tools::per_element());
  const Column numbers = Column(Strings{"10", "9", "10"}).astype("category");
  BOOST_TEST(numbers.categories() == (Texts{"9", "10"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(arrays_hold_the_values) {
  const Table table = people();
  const Tensor numbers = table.to_tensor({"age", "income"});
  BOOST_TEST(numbers.describe() == "float32 (3, 2)");
  BOOST_TEST(numbers.to_doubles()[3] == 1.5);
  BOOST_TEST(std::isnan(numbers.to_doubles()[5]));
  BOOST_TEST(
      table.to_tensor({"age"}, DType::int8).reshape({3}).equal(Tensor({3}, std::vector<std::int8_t>{31, 45, 7})));
  const auto refusal = [](const Table& from, const std::string& column, DType dtype) {
    return refused<Error>([&] { from.to_tensor({column}, dtype); });
  };
  BOOST_TEST(refusal(table, "city", DType::float32) == "[Table] column \"city\" must have numbers; got str");
  const std::string fraction = refusal(table, "income", DType::int64);
  BOOST_TEST(fraction.rfind("[Table] row 0 (line 2 of \"", 0) == 0);
  BOOST_TEST(fraction.find("column \"income\" must be a number that fits int64; got 0.5") != std::string::npos);
  BOOST_TEST(refusal(table.range(2, 3), "income", DType::int64).find("fits int64; the value is missing") !=
             std::string::npos);
  const Table large(
      {{"x", Tensor({1}, std::vector<std::int64_t>{9007199254740993})}, {"y", Tensor({1}, std::vector<double>{1e39})}});
  BOOST_TEST(refusal(large, "x", DType::float64) ==
             "[Table] row 0, column \"x\" must be a number that fits float64; got 9007199254740993");
  BOOST_TEST(refusal(large, "y", DType::float32) ==
             "[Table] row 0, column \"y\" must be a number that fits float32; got 1e+39");
  BOOST_TEST(refused<ValueError>([&] { large["x"].astype(DType::int32); }) ==
             "[Column] row 0 must fit int32; got 9007199254740993");
}

BOOST_AUTO_TEST_CASE(printed) {
  std::ostringstream out;
  out << people();
  BOOST_TEST(out.str() ==
             "Table of 3 rows, 4 columns\n"
             "column  type     missing  row 0  row 1  row 2\n"
             "---------------------------------------------\n"
             "age     int64          0     31     45      7\n"
             "city    str            1   Lyon      -   Oslo\n"
             "income  float64        1    0.5    1.5      -\n"
             "member  bool           1   true  false      -\n");
}

BOOST_AUTO_TEST_SUITE_END()
