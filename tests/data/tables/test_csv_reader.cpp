#include <mezzo/data/tables/csv_reader.hpp>

#include <boost/test/unit_test.hpp>

#include "support/gzip.hpp"
#include "support/refused.hpp"
#include "tables.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::string numbered_rows(std::int64_t rows) {
  std::string text = "i,s,c\n";
  for (std::int64_t i = 0; i < rows; ++i) {
    text += std::to_string(i) + (i == rows - 1 ? ".5" : "") + ",\"x\n" + std::to_string(i) + "\"," +
            (i % 2 == 0 ? "even" : "odd") + "\n";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(csv_reader)

BOOST_AUTO_TEST_CASE(chunks_are_the_table) {
  const std::string text = numbered_rows(100'000);
  const Folder folder;
  const std::string plain = folder.write("t.csv", {text.begin(), text.end()});
  const std::string packed = folder.write("t.gz", gzip({text.begin(), text.end()}));
  const Table whole = read_csv(plain, {.dtype = {{"c", "category"}}});
  for (const std::string& path : {plain, packed}) {
    for (const std::int64_t chunksize : {7'001, 100'000, 200'000}) {
      CsvReader reader(path, chunksize, {.dtype = {{"c", "category"}}});
      BOOST_TEST(reader.rows() == 100'000);
      std::int64_t row = 0;
      bool equal = true;
      for (const Table& part : reader) {
        BOOST_TEST(part.rows() == std::min(chunksize, 100'000 - row));
        BOOST_TEST(part["i"].type() == "float64");
        BOOST_TEST(part["c"].categories().size() == 2);
        BOOST_TEST(part.line(0) == whole.line(row));
        const Table expected = whole.range(row, row + part.rows());
        for (const std::string& name : part.columns()) {
          equal = equal && texts_of(part[name]) == texts_of(expected[name]);
        }
        row += part.rows();
      }
      BOOST_TEST(equal);
      BOOST_TEST(row == 100'000);
      BOOST_TEST(!reader.next().has_value());
    }
  }
}

BOOST_AUTO_TEST_CASE(refused_chunks) {
  const TextFile file("a\n1\n2\nx\n");
  BOOST_TEST(refused<ValueError>([&] { CsvReader(file.path(), 0); }) ==
             "[CsvReader \"" + file.path() + "\"] chunksize must be at least 1; got 0");
  CsvReader reader(file.path(), 2, {.dtype = DType::int64});
  BOOST_TEST(reader.next()->rows() == 2);
  BOOST_TEST(refused<FileError>([&] { reader.next(); }) ==
             "[CsvReader \"" + file.path() + "\"] line 4, column \"a\" must be a number that fits int64; got \"x\"");
  BOOST_TEST(refused<FileError>([&] { reader.next(); }).find("line 4, ") != std::string::npos);  // stays there
}

BOOST_AUTO_TEST_CASE(readers_from_the_start_have_their_own_position) {
  const std::string text = numbered_rows(1000);
  const Folder folder;
  for (const auto& path :
       {folder.write("t.csv", {text.begin(), text.end()}), folder.write("t.gz", gzip({text.begin(), text.end()}))}) {
    CsvReader reader(path, 300);
    CsvReader copy = reader;
    const std::vector<std::string> first = texts_of((*reader.next())["i"]);
    std::int64_t rows = 0;
    for (const Table& part : reader.from_start()) {
      if (rows == 0) BOOST_TEST(texts_of(part["i"]) == first);
      rows += part.rows();
    }
    BOOST_TEST(rows == 1000);
    BOOST_TEST(texts_of((*copy.next())["i"]) == texts_of(read_csv(path).range(300, 600)["i"]));
    BOOST_TEST(reader.next()->line(0) == read_csv(path).line(600));
  }
}

BOOST_AUTO_TEST_SUITE_END()
