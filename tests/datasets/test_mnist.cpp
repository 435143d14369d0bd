#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

#include <mezzo/core/error.hpp>
#include <mezzo/datasets/fashion_mnist.hpp>
#include <mezzo/datasets/mnist.hpp>

#include "support/environment.hpp"
#include "support/folder.hpp"
#include "support/gzip.hpp"
#include "support/skip.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::Environment;
using mezzo_tests::Folder;

namespace {

using Bytes = std::vector<std::uint8_t>;

// An IDX file of pictures; all pixels of picture i are i.
Bytes images(std::uint8_t count, std::uint8_t side = 28) {
  Bytes bytes = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side};
  for (std::uint8_t i = 0; i < count; ++i) bytes.insert(bytes.end(), static_cast<std::size_t>(side) * side, i);
  return bytes;
}

Bytes labels(const Bytes& values) {
  Bytes bytes = {0, 0, 8, 1, 0, 0, 0, static_cast<std::uint8_t>(values.size())};
  for (const std::uint8_t value : values) bytes.push_back(value);
  return bytes;
}

// Writes three samples for training and two for testing; pictures are compressed, labels are not.
void write_files(const Folder& folder, const std::string& under) {
  folder.write(under + "train-images-idx3-ubyte.gz", mezzo_tests::gzip(images(3)));
  folder.write(under + "train-labels-idx1-ubyte", labels({9, 0, 5}));
  folder.write(under + "t10k-images-idx3-ubyte.gz", mezzo_tests::gzip(images(2)));
  folder.write(under + "t10k-labels-idx1-ubyte", labels({1, 2}));
}

void check_is_small(const std::pair<Dataset, Dataset>& data) {
  BOOST_TEST(data.first.size() == 3);
  BOOST_TEST(data.second.size() == 2);
  const HostBatch batch = data.first.gather({2, 0});
  BOOST_TEST(batch["image"].describe() == "uint8 (2, 28, 28, 1)");
  BOOST_TEST(batch["image"].to_doubles()[0] == 2);
  BOOST_TEST(batch["label"].describe() == "int64 (2,)");
  BOOST_TEST(batch["label"].to_doubles() == (std::vector<double>{5, 9}), boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mnist)

BOOST_AUTO_TEST_CASE(fields_have_their_shapes_and_roles) {
  const Folder folder;
  write_files(folder, "");
  const std::vector<Field> fields = datasets::mnist({.root = folder.path()}).second.fields();
  BOOST_REQUIRE(fields.size() == 2U);
  BOOST_TEST(fields[0].name == "image");
  BOOST_TEST(fields[0].shape == (Shape{28, 28, 1}), boost::test_tools::per_element());
  BOOST_TEST((fields[0].dtype == DType::uint8 && fields[0].role == Role::input));
  BOOST_TEST(fields[1].name == "label");
  BOOST_TEST(fields[1].shape.empty());
  BOOST_TEST((fields[1].dtype == DType::int64 && fields[1].role == Role::target));
}

BOOST_AUTO_TEST_CASE(files_are_found_in_the_root_and_under_the_names_folder) {
  const Folder folder;
  write_files(folder, "");
  check_is_small(datasets::mnist({.root = folder.path()}));
  check_is_small(datasets::fashion_mnist({.root = folder.path()}));
  const Folder above;
  write_files(above, "fashion-mnist/");
  check_is_small(datasets::fashion_mnist({.root = above.path()}));
  const Environment data("MEZZO_DATA", above.path());
  check_is_small(datasets::fashion_mnist());
}

BOOST_AUTO_TEST_CASE(the_places_looked_in_are_listed) {
  const Folder folder;
  const Environment data("MEZZO_DATA", folder.path());
  const std::string must = "\"train-images-idx3-ubyte\", with or without .gz, must be in one of: ";
  const std::string root = folder.path();
  check_throws<FileError>("[mnist] " + must + root + ", " + root + "/mnist", [&] { datasets::mnist({.root = root}); });
  check_throws<FileError>("[fashion-mnist] " + must + root + ", " + root +
                              "/fashion-mnist; Debian's package `dataset-fashion-mnist` installs it",
                          [&] { datasets::fashion_mnist({.root = root}); });
  if (std::filesystem::exists("/usr/share/datasets/mnist") ||
      std::filesystem::exists("/usr/local/share/datasets/mnist")) {
    return;
  }
  check_throws<FileError>(
      "[mnist] " + must + root + "/mnist, /usr/local/share/datasets/mnist, /usr/share/datasets/mnist",
      [] { datasets::mnist(); });
}

BOOST_AUTO_TEST_CASE(bad_files_are_refused) {
  const auto refuse = [](const std::string& file, const Bytes& bytes, const std::string& text) {
    const Folder folder;
    write_files(folder, "");
    const std::string path = folder.write(file, bytes);
    check_throws<FileError>("[datasets] \"" + path + "\"" + text, [&] { datasets::mnist({.root = folder.path()}); });
  };
  refuse("t10k-labels-idx1-ubyte", labels({1, 2, 3}), " must hold a label for each image, uint8 (2,); got uint8 (3,)");
  refuse("train-labels-idx1-ubyte", labels({1}), " must hold a label for each image, uint8 (3,); got uint8 (1,)");
  refuse("train-labels-idx1-ubyte", labels({9, 10, 0}), ": label 1 must lie in [0, 10); got 10");
  refuse("train-images-idx3-ubyte.gz", images(3, 5), " must hold images, uint8 (?, 28, 28); got uint8 (3, 5, 5)");
  refuse("t10k-images-idx3-ubyte.gz", labels({1, 2}), " must hold images, uint8 (?, 28, 28); got uint8 (2,)");
  const Bytes many{0, 0, 8, 3, 0, 15, 66, 65, 0, 0, 0, 28, 0, 0, 0, 28};  // a header alone
  refuse("train-images-idx3-ubyte.gz", mezzo_tests::gzip(many), " must hold at most 1000000 images; got 1000001");
  const Folder folder;
  write_files(folder, "");
  std::filesystem::remove(folder.path("t10k-labels-idx1-ubyte"));
  check_throws<FileError>(
      "[datasets] \"" + folder.path("t10k-labels-idx1-ubyte") + "\", with or without .gz: no such file or directory",
      [&] { datasets::mnist({.root = folder.path()}); });
}

BOOST_AUTO_TEST_CASE(the_real_fashion_mnist_is_whole) {
  std::optional<std::pair<Dataset, Dataset>> data;
  try {
    data = datasets::fashion_mnist();
  } catch (const FileError& e) {
    return mezzo_tests::skip(e.what());
  }
  BOOST_TEST(data->first.size() == 60000);
  BOOST_TEST(data->second.size() == 10000);
  std::vector<std::int64_t> all(10000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  const std::vector<double> classes = data->second.gather(all)["label"].to_doubles();
  for (int label = 0; label < 10; ++label) BOOST_TEST(std::count(classes.begin(), classes.end(), label) == 1000);
  BOOST_TEST(data->first.gather({0})["label"].item() == 9);
}

BOOST_AUTO_TEST_SUITE_END()
