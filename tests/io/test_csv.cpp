#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/core/error.hpp>
#include <mezzo/io/csv.hpp>
#include <mezzo/io/file.hpp>

#include "support/folder.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor load(const std::string& text, const LoadCsvOptions& options = {}) {
  const Folder folder;
  return load_csv(folder.write("a.csv", {text.begin(), text.end()}), options);
}

void check(const Tensor& tensor, const Shape& shape, const std::vector<double>& elements) {
  BOOST_TEST(tensor.shape() == shape, boost::test_tools::per_element());
  BOOST_TEST(tensor.to_doubles() == elements, boost::test_tools::per_element());
}

void check_refused(const std::string& text, const std::string& error, const LoadCsvOptions& options = {}) {
  const Folder folder;
  const std::string path = folder.write("a.csv", {text.begin(), text.end()});
  check_throws<FileError>("[load_csv \"" + path + "\"] " + error, [&] { load_csv(path, options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(csv)

BOOST_AUTO_TEST_CASE(tables_are_read) {
  check(load("1,2,3\n4,5,6\n"), {2, 3}, {1, 2, 3, 4, 5, 6});
  check(load("1,2\r\n\r\n -3.5 ,\t+4e-1\r\n"), {2, 2}, {1, 2, -3.5, 0.4F});
  check(load("7"), {1, 1}, {7});
  check(load(""), {0, 0}, {});
  check(load("\n\n# nothing\n"), {0, 0}, {});
  check(load("\xEF\xBB\xBF"
             "1,2\n"),
        {1, 2}, {1, 2});
  check(load("a,b\n# c\n1,2 # d\n3,4\n5,6\n", {.skip_rows = 1, .max_rows = 2}), {2, 2}, {1, 2, 3, 4});
  check(load("1;2\n3;4\n", {.delimiter = ';', .dtype = DType::int64}), {2, 2}, {1, 2, 3, 4});
  check(load("1 % x\n2\n", {.comments = "%"}), {2, 1}, {1, 2});
  check(load("0,1\n", {.dtype = DType::boolean}), {1, 2}, {0, 1});
  check(load("1e-50,1e-40\n"), {1, 2}, {0, static_cast<double>(1e-40F)});
  const std::vector<double> special = load("inf,-Infinity,nan\n", {.dtype = DType::float64}).to_doubles();
  BOOST_TEST((std::isinf(special[0]) && special[1] < 0 && std::isnan(special[2])));
}

BOOST_AUTO_TEST_CASE(bad_tables_are_refused) {
  check_refused("# x\n1,2\n3\n", "line 3 must have 2 fields, as line 2 has; got 1");
  check_refused("1,2\n3,4,5,6\n7,8,9\n", "line 2 must have 2 fields, as line 1 has; got 4");
  check_refused("1,2,\n", "line 1, field 3 must be a number that fits float32; got \"\"");
  for (const std::string field : {"abc", "1.5x", "1 2", "0x10", "--1", "+-1", "\"1\"", "1e39", ".", "1,"}) {
    const std::string given = field == "1," ? "" : field;
    check_refused("1\n" + field + "\n", "line 2, field " + std::string(field == "1," ? "2" : "1") +
                                            " must be a number that fits float32; got \"" + given + "\"");
  }
  check_refused("1.5\n", "line 1, field 1 must be a number that fits int32; got \"1.5\"", {.dtype = DType::int32});
  check_refused("128\n", "line 1, field 1 must be a number that fits int8; got \"128\"", {.dtype = DType::int8});
  check_refused("-1\n", "line 1, field 1 must be a number that fits uint8; got \"-1\"", {.dtype = DType::uint8});
  check_refused("70000\n", "line 1, field 1 must be a number that fits float16; got \"70000\"",
                {.dtype = DType::float16});
  check_refused("2\n", "line 1, field 1 must be a number that fits bool; got \"2\"", {.dtype = DType::boolean});
  BOOST_CHECK_THROW(load_csv("/no such file"), FileError);
  BOOST_CHECK_THROW(load("1", {.delimiter = '.'}), ValueError);
  BOOST_CHECK_THROW(load("1", {.delimiter = '\n'}), ValueError);
  BOOST_CHECK_THROW(load("1", {.skip_rows = -1}), ValueError);
  BOOST_CHECK_THROW(load("1", {.max_rows = -2}), ValueError);
}

BOOST_AUTO_TEST_CASE(every_dtype_makes_the_round_trip) {
  const Folder folder;
  for (const DType dtype : all_dtypes) {
    const Tensor tensor = random_tensor({40, 3}, dtype, 7, dtype == DType::uint8 ? 0 : -100, 100);
    save_csv(folder.path("a.csv"), tensor, {.delimiter = '\t', .header = "x\ty\tz"});
    BOOST_TEST(load_csv(folder.path("a.csv"), {.delimiter = '\t', .skip_rows = 1, .dtype = dtype}).equal(tensor),
               dtype_name(dtype));
  }
  const double least = std::numeric_limits<double>::denorm_min(), greatest = std::numeric_limits<double>::max();
  const Tensor doubles({4}, std::vector<double>{least, greatest, 0.1, -0.0});
  save_csv(folder.path("a.csv"), doubles);
  BOOST_TEST(load_csv(folder.path("a.csv"), {.dtype = DType::float64}).reshape({4}).equal(doubles));
  const Tensor least_int({1, 1}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  save_csv(folder.path("a.csv"), least_int);
  BOOST_TEST(load_csv(folder.path("a.csv"), {.dtype = DType::int64}).equal(least_int));
}

BOOST_AUTO_TEST_CASE(the_text_is_short) {
  const Folder folder;
  save_csv(folder.path("a.csv"), Tensor({2, 2}, std::vector<float>{0.1F, 1, -2.5F, 1e20F}), {.header = "a,b"});
  const detail::Bytes bytes = detail::read_file(folder.path("a.csv"), 1000);
  BOOST_TEST(std::string(bytes.begin(), bytes.end()) == "a,b\n0.1,1\n-2.5,1e+20\n");
  check_throws<ShapeError>("[save_csv \"a.csv\"] the tensor must have rank 1 or 2; got float32 (2, 2, 2)", [] {
    save_csv("a.csv", Tensor({2, 2, 2}));
  });
}

BOOST_AUTO_TEST_SUITE_END()
