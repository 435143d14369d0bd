#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/data/tables/csv_dataset.hpp>
#include <mezzo/data/tables/table_dataset.hpp>

#include "support/refused.hpp"
#include "tables.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

HostBatch samples_of(const Dataset& data) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < data.size(); ++i) indices.push_back(i);
  return data.gather(indices);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(table_datasets)

BOOST_AUTO_TEST_CASE(fields_by_column) {
  const Table table =
      table_of("age,city,income,w,y\n31,Lyon,1200.5,1,0\n45,Oslo,,0.5,1\n", {.dtype = {{"city", "category"}}});
  const Dataset data = table_dataset(table, {.targets = {"y"}, .weights = {"w"}});
  std::vector<std::string> described;
  for (const Field& field : data.fields()) described.push_back(field.name + " " + dtype_name(field.dtype));
  BOOST_TEST(
      described == (std::vector<std::string>{"age int64", "city int64", "income float32", "y int64", "w float32"}),
      boost::test_tools::per_element());
  BOOST_TEST((data.fields()[3].role == Role::target && data.fields()[4].role == Role::weight));
  const HostBatch batch = samples_of(data);
  BOOST_TEST(batch["city"].to_doubles() == (std::vector<double>{0, 1}));
  BOOST_TEST(std::isnan(batch["income"].to_doubles()[1]));
  BOOST_TEST(table_dataset(table, {.features = {"income"}, .dtype = DType::float64}).fields().size() == 1);
}

BOOST_AUTO_TEST_CASE(refused_fields) {
  const Table table = table_of("s,y,z\na,1,\nb,,1e39\n");
  const auto refusal = [&](const TableDatasetOptions& options) {
    return refused<Error>([&] { table_dataset(table, options); });
  };
  BOOST_TEST(refusal({}) ==
             "[table_dataset] column \"s\" must have numbers or categories; got str, which astype(\"category\") "
             "converts");
  BOOST_TEST(refusal({.features = {"y"}, .targets = {"y"}}) == "[table_dataset] columns must differ; got \"y\" twice");
  BOOST_TEST(refused<ValueError>([] { table_dataset(read_csv(TextFile("a,b\n").path())); }) ==
             "[table_dataset] the table must have rows; got none");
  BOOST_TEST(refusal({.features = {"x"}}) == "[Table] unknown column \"x\"; valid names: s, y, z");
  const std::string missing = refusal({.features = {"z"}, .targets = {"y"}, .dtype = DType::float64});
  BOOST_TEST(missing.rfind("[table_dataset] row 1 (line 3 of \"", 0) == 0);
  BOOST_TEST(missing.find("column \"y\" must have a value; it is missing") != std::string::npos);
  BOOST_TEST(refusal({.features = {"z"}}).find("column \"z\" must be a number that fits float32; got 1e+39") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(csv_fields) {
  const TextFile file("a, b,\"c\",note,w\n1,2,0,x,1\n3,,1,,3\n");
  const HostBatch batch = samples_of(csv_dataset(file.path(), {.targets = {"c"},
                                                               .features = {"b", "a"},
                                                               .weights = "w",
                                                               .target_dtype = DType::int64,
                                                               .allow_missing = true,
                                                               .csv = {.skipinitialspace = true}}));
  BOOST_TEST(batch["x"].describe() == "float32 (2, 2)");
  BOOST_TEST(batch["x"].to_doubles()[0] == 2);
  BOOST_TEST(std::isnan(batch["x"].to_doubles()[2]));
  BOOST_TEST(batch["y"].describe() == "int64 (2,)");
  BOOST_TEST(batch["sample_weight"].to_doubles() == (std::vector<double>{1, 3}));
  const HostBatch chosen =
      samples_of(csv_dataset(file.path(), {.targets = {"c", "a"}, .features = {" b"}, .allow_missing = true}));
  BOOST_TEST(chosen["y"].to_doubles() == (std::vector<double>{0, 1, 1, 3}));
  const TextFile numbers("1;2\n3;4\n");
  BOOST_TEST(samples_of(csv_dataset(numbers.path(), {.csv = {.sep = ";", .names = {"p", "q"}}}))["x"].to_doubles() ==
             (std::vector<double>{1, 2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(refused_csv_fields) {
  const auto refusal = [](const std::string& last, const CsvDatasetOptions& options) {
    const TextFile file("x,y,s\n1,1,a\n" + last + "\n");
    const std::string error = refused<Error>([&] { csv_dataset(file.path(), options); });
    const std::string begin = "[csv_dataset \"" + file.path() + "\"] ";
    return error.rfind(begin, 0) == 0 ? error.substr(begin.size()) : error;
  };
  const auto target = [](DType dtype) {
    return CsvDatasetOptions{.targets = {"y"}, .features = {"x"}, .target_dtype = dtype};
  };
  BOOST_TEST(refusal("1,0.7,b", target(DType::int64)) ==
             "line 3, column \"y\" must be a number that fits int64; got \"0.7\"");
  BOOST_TEST(refusal("1,,b", target(DType::int64)) ==
             "line 3, column \"y\" must be a number that fits int64; got the missing value \"\"");
  BOOST_TEST(refusal("1,nan,b", target(DType::float32)) == "line 3, column \"y\" must have a value; it is missing");
  BOOST_TEST(refusal(",1,b", target(DType::float32)) ==
             "line 3, column \"x\" must have a value; it is missing: allow_missing = true reads NaN");
  CsvDatasetOptions lenient = target(DType::float32);
  lenient.allow_missing = true;
  BOOST_TEST(refusal("1,,b", lenient) == "line 3, column \"y\" must have a value; it is missing");
  BOOST_TEST(refusal("1,9007199254740993,b", target(DType::float64)) ==
             "line 3, column \"y\" must be a number that fits float64; got \"9007199254740993\"");
  BOOST_TEST(refusal("1e39,1,b", target(DType::float32)) ==
             "line 3, column \"x\" must be a number that fits float32; got \"1e39\"");
  BOOST_TEST(refusal("1,1,b", {.targets = {"y"}}) ==
             "line 2, column \"s\" must be a number that fits float32; got \"a\"");
  BOOST_TEST(refusal("1,1,b", {.targets = {"z"}}) == "unknown column \"z\"; valid names: x, y, s");
  BOOST_TEST(refusal("1,1,b", {.targets = {"y"}, .features = {"y"}}) == "columns must differ; got \"y\" twice");
  BOOST_TEST(refusal("1,1,b", {.csv = {.usecols = {"x"}}}) ==
             "usecols and dtype of csv must not be given; they follow from features and targets");
  BOOST_TEST(refused<FileError>([&] { csv_dataset(TextFile("a\n").path()); }).find("must have rows; got none") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
