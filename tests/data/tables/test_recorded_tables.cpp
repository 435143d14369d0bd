#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>

#include "support/recorded.hpp"
#include "tables.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using nlohmann::json;

detail::CsvTypes types_of(const json& given) {
  if (given.is_string()) return given.get<std::string>().c_str();
  std::map<std::string, detail::ColumnType> types;
  for (const auto& [name, type] : given.items()) types.emplace(name, type.get<std::string>());
  return types;
}

// Arguments of pandas' read_csv as options.
ReadCsvOptions options_of(const json& arguments) {
  ReadCsvOptions options;
  for (const auto& [name, value] : arguments.items()) {
    const std::map<std::string, std::string*> texts{{"sep", &options.sep},
                                                    {"decimal", &options.decimal},
                                                    {"thousands", &options.thousands},
                                                    {"comment", &options.comment},
                                                    {"quotechar", &options.quotechar}};
    const std::map<std::string, std::vector<std::string>*> lists{{"names", &options.names},
                                                                 {"usecols", &options.usecols},
                                                                 {"na_values", &options.na_values},
                                                                 {"true_values", &options.true_values},
                                                                 {"false_values", &options.false_values}};
    if (texts.count(name) > 0) {
      *texts.at(name) = value.get<std::string>();
    } else if (lists.count(name) > 0) {
      *lists.at(name) = value.get<std::vector<std::string>>();
    } else if (name == "skiprows") {
      options.skiprows = value.get<std::int64_t>();
    } else if (name == "nrows") {
      options.nrows = value.get<std::int64_t>();
    } else if (name == "header") {
      options.header = value.get<std::int64_t>();
    } else if (name == "skipinitialspace") {
      options.skipinitialspace = value.get<bool>();
    } else if (name == "keep_default_na") {
      options.keep_default_na = value.get<bool>();
    } else if (name == "dtype") {
      options.dtype = types_of(value);
    } else {
      throw std::runtime_error("no option for " + name);
    }
  }
  return options;
}

bool equal_value(const Column& column, std::int64_t row, const json& expected) {
  if (expected.is_null() || column.is_missing(row)) return expected.is_null() && column.is_missing(row);
  if (column.type() == "str" || column.type() == "category") return column.text(row) == expected.get<std::string>();
  if (column.type() == "bool") return column.values().data<bool>()[row] == expected.get<bool>();
  if (column.type() == "int64") return column.values().data<std::int64_t>()[row] == expected.get<std::int64_t>();
  const double number = column.values().to_doubles()[static_cast<std::size_t>(row)];
  if (expected.is_string()) return std::isinf(number) && (number < 0) == (expected.get<std::string>() == "-inf");
  return number == expected.get<double>() && std::signbit(number) == std::signbit(expected.get<double>());
}

void check_column(const Column& column, const json& expected) {
  BOOST_TEST(column.type() == expected.at("type").get<std::string>());
  const json& values = expected.at("values");
  BOOST_TEST_REQUIRE(column.size() == static_cast<std::int64_t>(values.size()));
  std::int64_t missing = 0;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    const json& value = values[static_cast<std::size_t>(row)];
    missing += value.is_null() ? 1 : 0;
    BOOST_TEST(equal_value(column, row, value), "row " << row << ": " << column.text(row) << ", expected " << value);
  }
  BOOST_TEST(column.missing() == missing);
  if (expected.contains("categories")) {
    BOOST_TEST(column.categories() == expected.at("categories").get<std::vector<std::string>>());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recorded_tables)

BOOST_AUTO_TEST_CASE(equal_pandas) {
  for (const json& entry : recorded("tables").at("tables")) {
    BOOST_TEST_CONTEXT(entry.at("name").get<std::string>()) {
      const Table table = table_of(entry.at("text").get<std::string>(), options_of(entry.at("options")));
      std::vector<std::string> names;
      for (const json& column : entry.at("columns")) names.push_back(column.at("name").get<std::string>());
      BOOST_TEST(table.columns() == names, boost::test_tools::per_element());
      for (const json& column : entry.at("columns")) {
        const auto name = column.at("name").get<std::string>();
        BOOST_TEST_CONTEXT("column " << name) {
          if (table.contains(name)) check_column(table[name], column);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(refused_as_by_pandas) {
  for (const json& entry : recorded("tables").at("refused")) {
    BOOST_TEST_CONTEXT(entry.at("name").get<std::string>()) {
      BOOST_CHECK_THROW(table_of(entry.at("text").get<std::string>(), options_of(entry.at("options"))), Error);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
