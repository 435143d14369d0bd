#include <mezzo/data/tables/read_csv.hpp>

#include <boost/test/unit_test.hpp>

#include <array>

#include <mezzo/core/parallel.hpp>
#include <mezzo/data/tables/csv_reader.hpp>
#include <mezzo/io/csv.hpp>

#include "support/gzip.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"
#include "tables.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Texts = std::vector<std::string>;

// The error for a text without its beginning, `[read_csv "path"] `.
std::string refusal(const std::string& text, const ReadCsvOptions& options = {}) {
  const TextFile file(text);
  const std::string error = refused<Error>([&] { read_csv(file.path(), options); });
  const std::string begin = "[read_csv \"" + file.path() + "\"] ";
  return error.rfind(begin, 0) == 0 ? error.substr(begin.size()) : "not at the beginning: " + error;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(read_csv)

BOOST_AUTO_TEST_CASE(mixed_columns_with_missing_values) {
  const Table table = table_of("id,city,income,member\n1,Lyon,1200.5,True\n2,\"San José\",,\n3,NA,-3e2,False\n");
  BOOST_TEST(table.columns() == (Texts{"id", "city", "income", "member"}), boost::test_tools::per_element());
  BOOST_TEST(table["id"].type() == "int64");
  BOOST_TEST(texts_of(table["city"]) == (Texts{"Lyon", "San José", "-"}), boost::test_tools::per_element());
  BOOST_TEST(table["income"].missing() == 1);
  BOOST_TEST(table["member"].type() == "bool");
  BOOST_TEST(table["member"].isna().equal(Tensor({3}, std::vector<bool>{false, true, false})));
}

BOOST_AUTO_TEST_CASE(errors_name_line_and_column) {
  BOOST_TEST(refusal("a,b\n1,2\n3\n4,5,6\n") == "line 3 must have 2 fields, as line 1 has; got 1");
  BOOST_TEST(refusal("# x\n\na,b\n\"1\n2\",2\n3,4,5\n", {.comment = "#"}) ==
             "line 6 must have 2 fields, as line 3 has; got 3");
  BOOST_TEST(refusal("a,b\n1,2\n3,\"x\n") ==
             "line 3 begins a record with a quote that must end; got the end of the file");
  BOOST_TEST(refusal("a,\"b\n") == "line 1 begins a record with a quote that must end; got the end of the file");
  BOOST_TEST(refusal("a,y\n1,0.7\n", {.dtype = {{"y", DType::int64}}}) ==
             "line 2, column \"y\" must be a number that fits int64; got \"0.7\"");
  BOOST_TEST(refusal("a,y\n1,2\n2,NA\n", {.dtype = {{"y", "int64"}}}) ==
             "line 3, column \"y\" must be a number that fits int64; got the missing value \"NA\"");
  BOOST_TEST(refusal("y\n1e39\n", {.dtype = DType::float32}) ==
             "line 2, column \"y\" must be a number that fits float32; got \"1e39\"");
  BOOST_TEST(refusal("y\n1e400\n") == "line 2, column \"y\" must be a number that fits float64; got \"1e400\"");
  BOOST_TEST(refusal("y\nx\n", {.dtype = DType::float64}) ==
             "line 2, column \"y\" must be a number that fits float64; got \"x\"");
  BOOST_TEST(refusal("y,b\n1,\"\xff\"\n") == "line 2, column \"b\" must be UTF-8 text; got the byte 0xff");
  BOOST_TEST(refusal("\xff\xfe"
                     "a\n") == "must be UTF-8 text; got UTF-16");
  BOOST_TEST(refusal("") == "must have a record of names; got no more records");
  BOOST_TEST(refusal("1,2\n", {.names = {"a"}}) == "line 1 must have 1 fields, as many as names; got 2");
}

BOOST_AUTO_TEST_CASE(dtypes_hold_values_or_refuse_them) {
  BOOST_TEST(table_of("y\n9007199254740993\n")["y"].values().data<std::int64_t>()[0] == 9007199254740993);
  // float64 can't hold one of them, so the missing one has no NaN.
  const Table missing = table_of("y,z\n9007199254740993,1\n,2\n");
  BOOST_TEST(missing["y"].type() == "int64");
  BOOST_TEST(texts_of(missing["y"]) == (Texts{"9007199254740993", "-"}), boost::test_tools::per_element());
  for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    BOOST_TEST(refusal("y\n9007199254740993\n", {.dtype = dtype}) ==
               std::string("line 2, column \"y\" must be a number that fits ") + dtype_name(dtype) +
                   "; got \"9007199254740993\"");
  }
  BOOST_TEST(texts_of(table_of("y\n16777217\n", {.dtype = DType::float32})["y"]) == Texts{"16777216"});
  BOOST_TEST(texts_of(table_of("y\n1e-50\n1e-40\n", {.dtype = DType::float32})["y"]) == (Texts{"0", "1e-40"}));
  BOOST_TEST(texts_of(table_of("y\n18446744073709551615\n1\n")["y"]) == (Texts{"18446744073709551615", "1"}));
  BOOST_TEST(texts_of(table_of("y\n2.0\n-1e2\n", {.dtype = DType::int8})["y"]) == (Texts{"2", "-100"}));
  const std::map<std::string, DType> out_of_range{{"128", DType::int8},
                                                  {"-1", DType::uint8},
                                                  {"-1.0", DType::uint8},
                                                  {"70000", DType::float16},
                                                  {"2", DType::boolean},
                                                  {"9223372036854775808", DType::int64},
                                                  {"9007199254740994.0", DType::int64}};
  for (const auto& [text, dtype] : out_of_range) {
    BOOST_TEST(refusal("y\n" + text + "\n", {.dtype = dtype}) ==
               std::string("line 2, column \"y\" must be a number that fits ") + dtype_name(dtype) + "; got \"" + text +
                   "\"");
  }
}

BOOST_AUTO_TEST_CASE(only_the_columns_asked_for_are_converted) {
  const Table table = table_of("age,city,y\n31,\xff,1\n", {.usecols = {"y", "age"}, .dtype = {{"city", DType::int8}}});
  BOOST_TEST(table.columns() == (Texts{"age", "y"}), boost::test_tools::per_element());
  BOOST_TEST(table["y"].type() == "int64");
}

BOOST_AUTO_TEST_CASE(separators_are_found) {
  for (const std::string sep : {",", ";", "\t", "|"}) {
    const Table table = table_of("a" + sep + "b\n1" + sep + "\"x,;\t|\"\n2" + sep + "\"y,\"\n", {.sep = "auto"});
    BOOST_TEST(table.columns() == (Texts{"a", "b"}), boost::test_tools::per_element());
    BOOST_TEST(texts_of(table["b"]) == (Texts{"x,;\t|", "y,"}), boost::test_tools::per_element());
  }
  BOOST_TEST(table_of("a\n1\n", {.sep = "auto"}).columns() == Texts{"a"});
  BOOST_TEST(table_of("a,b c\n1,2 3\n", {.sep = "auto"}).columns() == (Texts{"a", "b c"}));
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
  BOOST_TEST(refusal("a\n", {.sep = ",,"}) == "sep must be one character, no line end; got \",,\"");
  BOOST_TEST(refusal("a\n", {.quotechar = ","}) == "sep and quotechar must differ; got \",\" for both");
  BOOST_TEST(refusal("a\n", {.decimal = ",", .thousands = ","}) ==
             "decimal and thousands must differ; got \",\" for both");
  BOOST_TEST(refusal("a\n", {.decimal = ",", .quotechar = ""}) == "sep and decimal must differ; got \",\" for both");
  BOOST_TEST(refusal("a\n", {.sep = ";", .thousands = ";", .quotechar = ""}) ==
             "sep and thousands must differ; got \";\" for both");
  BOOST_TEST(refusal("a\n", {.decimal = "\""}) == "quotechar and decimal must differ; got \"\"\" for both");
  BOOST_TEST(refusal("a\n", {.thousands = "#", .comment = "#"}) ==
             "comment and thousands must differ; got \"#\" for both");
  BOOST_TEST(refusal("a\n", {.decimal = "5"}) == "decimal must be no digit, sign or \"e\"; got \"5\"");
  BOOST_TEST(refusal("a\n", {.thousands = "-"}) == "thousands must be no digit, sign or \"e\"; got \"-\"");
  BOOST_TEST(refusal("a\n", {.skiprows = -1}) == "skiprows must be 0 or more; got -1");
  BOOST_TEST(refusal("a\n", {.nrows = -1}) == "nrows must be 0 or more; got -1");
  BOOST_TEST(refusal("a\n", {.header = -1}) == "header must be 0 or more; got -1");
  BOOST_TEST(refusal("a\n", {.usecols = {"b"}}) == "unknown column \"b\"; valid names: a");
  BOOST_TEST(refusal("a\n", {.usecols = {"a", "a"}}) == "usecols must differ; got \"a\" twice");
  BOOST_TEST(refusal("a\n", {.dtype = {{"b", "str"}}}) == "unknown column \"b\"; valid names: a");
  BOOST_TEST(refusal("1,2\n", {.names = {"a", "a"}}) == "names must differ; got \"a\" twice");
  BOOST_TEST(refused<NameError>([] { return ReadCsvOptions{.header = "none"}; }) ==
             "[read_csv] header must be a number, std::nullopt or \"infer\"; got \"none\"");
  BOOST_TEST(refused<NameError>([] {
               return ReadCsvOptions{.dtype = "text"};
             }).rfind("[Column] unknown type \"text\"; valid names: str, category, bool", 0) == 0);
  BOOST_CHECK_THROW(mezzo::read_csv("/no such file"), FileError);
}

BOOST_AUTO_TEST_CASE(gzip_by_content) {
  const std::string text = "a,b\n1,x\n2,y\n", more = "3,z\n";
  std::vector<std::uint8_t> bytes = gzip({text.begin(), text.end()});
  const std::vector<std::uint8_t> second = gzip({more.begin(), more.end()});
  bytes.insert(bytes.end(), second.begin(), second.end());
  const Folder folder;
  const Table table = mezzo::read_csv(folder.write("t.csv", bytes));
  BOOST_TEST(texts_of(table["b"]) == (Texts{"x", "y", "z"}), boost::test_tools::per_element());
  bytes.resize(bytes.size() - 3);
  BOOST_TEST(refused<FileError>([&] {
               mezzo::read_csv(folder.write("t.csv", bytes));
             }).find("must be whole gzip data") != std::string::npos);
  bytes.resize(20);
  bytes.insert(bytes.end(), 20, 0xff);
  BOOST_CHECK_THROW(mezzo::read_csv(folder.write("t.csv", bytes)), FileError);
}

BOOST_AUTO_TEST_CASE(large_files_are_read_in_parts) {
  // Parts end in the middle of quotes and line ends; types change far from the start.
  for (const std::string line_end : {"\n", "\r\n", "\r"}) {
    std::string text = "i,f,s" + line_end;
    constexpr std::int64_t rows = 150'000;
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::string s = i % 3 == 0 ? "\"a\n,\"\"" + std::to_string(i) + "\"" : std::to_string(i);
      text += std::to_string(i) + "," + (i == rows - 2 ? "0.5" : "7") + "," + s + line_end;
    }
    const TextFile file(text);
    const Table table = mezzo::read_csv(file.path());
    BOOST_TEST_REQUIRE(table.rows() == rows);
    BOOST_TEST(table["i"].type() == "int64");
    BOOST_TEST(table["f"].type() == "float64");
    BOOST_TEST(table["s"].type() == "str");
    const Strings strings = table["s"].strings();
    bool equal = true;
    for (std::int64_t i = 0; i < rows; ++i) {
      equal = equal && table["i"].values().data<std::int64_t>()[i] == i &&
              strings[i] == (i % 3 == 0 ? "a\n,\"" : "") + std::to_string(i);
    }
    BOOST_TEST(equal);
    BOOST_TEST(table.line(rows - 1) == 2 + rows - 1 + rows / 3);
  }
}

BOOST_AUTO_TEST_CASE(types_are_those_of_the_whole_file) {
  // The first and the last field of a column, whose type is inferred; the type.
  const std::vector<std::array<std::string, 3>> columns{{"7", "0.5", "float64"},
                                                        {"7", "", "float64"},
                                                        {"9007199254740993", "", "int64"},
                                                        {"", "9007199254740993", "int64"},
                                                        {"", "7", "float64"},
                                                        {"7", "18446744073709551615", "str"},
                                                        {"7", "2.0", "float64"},
                                                        {"7", "True", "str"},
                                                        {"True", "1", "str"},
                                                        {"False", "NA", "bool"},
                                                        {"", "True", "bool"},
                                                        {"0.5", "x", "str"},
                                                        {"0.5", "9007199254740993", "float64"},
                                                        {"007", "x", "str"}};
  std::string names, first, last;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string end = i + 1 < columns.size() ? "," : "\n";
    names += "c" + std::to_string(i) + end;
    first += columns[i][0] + end;
    last += columns[i][1] + end;
  }
  std::string text = names;
  while (text.size() < 3'000'000) text += first;
  const TextFile file(text + last);
  const Table table = mezzo::read_csv(file.path());
  const Table part = *CsvReader(file.path(), 10).next();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = table.columns()[i];
    BOOST_TEST(table[name].type() == columns[i][2], name);
    BOOST_TEST(part[name].type() == columns[i][2], name);
  }
  BOOST_TEST(table["c13"].text(0) == "007");
  BOOST_TEST(table["c2"].text(0) == "9007199254740993");
  BOOST_TEST(table["c1"].missing() == 1);
  BOOST_TEST(refusal("a\n" + std::string(2'000'000, '\n') + "1.5\n" + "1e400\n") ==
             "line 2000003, column \"a\" must be a number that fits float64; got \"1e400\"");
}

BOOST_AUTO_TEST_CASE(numbers_do_not_depend_on_threads) {
  std::string text = "a,b\n";
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + "," + std::to_string(i) + ".25\n";
  const TextFile file(text), wrong(text + "1\n" + text);
  const int before = thread_count();
  std::vector<Table> tables;
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    tables.push_back(mezzo::read_csv(file.path()));
    BOOST_TEST(refused<FileError>([&] { mezzo::read_csv(wrong.path()); }).find("line 400002 must have 2") !=
               std::string::npos);
  }
  set_thread_count(before);
  BOOST_TEST(tables[0].to_tensor({}, DType::float64).equal(tables[1].to_tensor({}, DType::float64)));
}

// Parts without quotes and CR are read by other functions.
BOOST_AUTO_TEST_CASE(plain_lines_are_read_as_others) {
  const Texts forms{"0.1,1,a,True,x",
                    "-0,-0,,False,",
                    "1.,007,b c,,y",
                    ".5,+3, d,True,z",
                    " 4,\t5,NA,False,\xC3\xA9",
                    "1e-5,6,e,True,nan",
                    "inf,7,f,,1",
                    "nan,,g,False,2.5",
                    "9007199254740993,8,h,,3e1",
                    "1E+7,-9,i,True,-4",
                    "-.25,10,j,False,5.",
                    "5e-324,11,k,,6"};
  std::string lines = "f,i,s,b,t\n", others = "f,i,s,b,t\r\n";
  for (std::size_t i = 0; lines.size() < 4'000'000; ++i) {
    lines += forms[i % forms.size()] + "\n";
    others += forms[i % forms.size()] + "\r\n";
  }
  const TextFile plain(lines), general(others);
  for (const Texts& columns : {Texts{}, Texts{"i", "t"}, Texts{"f"}, Texts{"b", "s"}}) {
    const Table got = mezzo::read_csv(plain.path(), {.usecols = columns});
    const Table expected = mezzo::read_csv(general.path(), {.usecols = columns});
    BOOST_TEST(got.columns() == expected.columns(), boost::test_tools::per_element());
    for (const std::string& name : got.columns()) {
      BOOST_TEST(got[name].type() == expected[name].type(), name);
      BOOST_TEST((texts_of(got[name]) == texts_of(expected[name])), name);
    }
  }
  const auto late = [&](const std::string& line, const ReadCsvOptions& options) {
    return refusal(lines + line, options);
  };
  const std::string at = "line " + std::to_string(std::count(lines.begin(), lines.end(), '\n') + 1);
  BOOST_TEST(late("1,2,\xFF,,\n", {}) == at + ", column \"s\" must be UTF-8 text; got the byte 0xff");
  BOOST_TEST(late("1,2,a,,b", {.usecols = {"f"}, .dtype = DType::float64}) ==
             "line 10, column \"f\" must be a number that fits float64; got \"9007199254740993\"");
  BOOST_TEST(late("1,x,a,,b", {.dtype = {{"i", DType::float32}}}) ==
             at + ", column \"i\" must be a number that fits float32; got \"x\"");
  std::string numbers = "n\n";
  for (int i = 0; i < 400'000; ++i) numbers += "12345\n";
  BOOST_TEST(refusal(numbers + "0.5\n", {.dtype = DType::int64}) ==
             "line 400002, column \"n\" must be a number that fits int64; got \"0.5\"");
}

BOOST_AUTO_TEST_CASE(unusual_records_stand_anywhere) {
  constexpr std::int64_t rows = 500'000;
  for (const std::string& unusual :
       {std::string("\"7\",\"x\n\""), "7," + std::string(100'000, 'x'), "7," + std::string(2'500'000, 'x'),
        std::string("7,y\r"), std::string("\n7,y"), std::string("7,")}) {
    for (const std::int64_t place : {100'000, 420'000, static_cast<int>(rows) - 1}) {
      std::string text = "a,b\n";
      for (std::int64_t i = 0; i < rows; ++i) {
        text += i == place ? unusual : std::to_string(i) + ",abcd";
        if (i + 1 < rows) text += "\n";
      }
      const TextFile file(text);
      const Table table = mezzo::read_csv(file.path());
      BOOST_TEST(table.rows() == rows);
      bool equal = table.rows() == rows;
      const auto* const numbers = table["a"].values().data<std::int64_t>();
      for (std::int64_t i = 0; equal && i < rows; ++i) equal = numbers[i] == (i == place ? 7 : i);
      BOOST_TEST(equal);
      BOOST_TEST(table.line(place) == place + (unusual[0] == '\n' ? 3 : 2));
      BOOST_TEST(table["b"].text(place - 1) == "abcd");
    }
  }
}

BOOST_AUTO_TEST_CASE(saved_arrays_come_back) {
  const Folder folder;
  for (const DType dtype : all_dtypes) {
    const Tensor tensor = random_tensor({40, 3}, dtype, 7, dtype == DType::uint8 ? 0 : -100, 100);
    save_csv(folder.path("a.csv"), tensor, {.delimiter = '\t', .header = "x\ty\tz"});
    const Table table = mezzo::read_csv(folder.path("a.csv"), {.sep = "\t", .dtype = dtype});
    BOOST_TEST(table.to_tensor({}, dtype).equal(tensor), dtype_name(dtype));
  }
  const Tensor doubles({4}, std::vector<double>{5e-324, 1.7976931348623157e308, 0.1, -0.0});
  save_csv(folder.path("a.csv"), doubles);
  const Table table = mezzo::read_csv(folder.path("a.csv"), {.header = std::nullopt});
  BOOST_TEST(table.to_tensor({"0"}, DType::float64).reshape({4}).equal(doubles));
}

BOOST_AUTO_TEST_SUITE_END()
