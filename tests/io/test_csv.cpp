#include <boost/test/unit_test.hpp>

#include <mezzo/io/csv.hpp>
#include <mezzo/io/file.hpp>

#include "support/folder.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(csv)

BOOST_AUTO_TEST_CASE(the_text_is_short) {
  const Folder folder;
  save_csv(folder.path("a.csv"), Tensor({2, 2}, std::vector<float>{0.1F, 1, -2.5F, 1e20F}), {.header = "a,b"});
  const detail::Bytes bytes = detail::read_file(folder.path("a.csv"), 1000);
  BOOST_TEST(std::string(bytes.begin(), bytes.end()) == "a,b\n0.1,1\n-2.5,1e+20\n");
  check_throws<ShapeError>("[save_csv \"a.csv\"] the tensor must have rank 1 or 2; got float32 (2, 2, 2)", [] {
    save_csv("a.csv", Tensor({2, 2, 2}));
  });
  check_throws<ValueError>(
      "[save_csv \"a.csv\"] delimiter must be a character that numbers and line ends don't have; got "
      "\".\"",
      [] {
        save_csv("a.csv", Tensor({2, 2}), {.delimiter = '.'});
      });
  const auto refuse = [&](const std::string& header, const std::string& text) {
    const std::string path = folder.path("b.csv");
    check_throws<ValueError>("[save_csv \"" + path + "\"] header must " + text, [&] {
      save_csv(path, Tensor({2, 2}), {.header = header});
    });
  };
  refuse("a,b,c", "have 2 fields, as the rows have; got 3 in \"a,b,c\"");
  refuse("a;b", "have 2 fields, as the rows have; got 1 in \"a;b\"");
  refuse("a,b\n", "be one line; got \"a,b\\n\"");
  save_csv(folder.path("b.csv"), Tensor({1, 2}), {.header = "\"a,b\",c"});
  save_csv(folder.path("b.csv"), Tensor({3}), {.header = "a"});
}

BOOST_AUTO_TEST_SUITE_END()
