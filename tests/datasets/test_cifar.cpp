#include <mezzo/datasets/cifar.hpp>

#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/gzip.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Samples of these label bytes; pixel i of color c is 10 c + i % 7.
std::vector<std::uint8_t> samples(const std::vector<std::vector<std::uint8_t>>& labels) {
  std::vector<std::uint8_t> bytes;
  for (const auto& label : labels) {
    bytes.insert(bytes.end(), label.begin(), label.end());
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 1024; ++i) bytes.push_back(static_cast<std::uint8_t>(10 * c + i % 7));
    }
  }
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cifar)

BOOST_AUTO_TEST_CASE(ten_classes) {
  const Folder folder;
  for (std::uint8_t i = 1; i <= 5; ++i) {
    folder.write("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin", samples({{i}}));
  }
  folder.write("cifar-10-batches-bin/test_batch.bin.gz", gzip(samples({{9}, {0}})));
  const auto [training, test] = datasets::cifar10({.root = folder.path()});
  BOOST_TEST(training.size() == 5);
  const HostBatch batch = test.gather({0, 1});
  BOOST_TEST(batch["image"].describe() == "uint8 (2, 32, 32, 3)");
  BOOST_TEST(batch["label"].to_doubles() == (std::vector<double>{9, 0}));
  const std::vector<double> pixels = batch["image"].to_doubles();
  BOOST_TEST(std::vector<double>(pixels.begin() + 9, pixels.begin() + 12) == (std::vector<double>{3, 13, 23}));
  const std::string path = folder.write("cifar-10-batches-bin/data_batch_5.bin", samples({{1}, {10}}));
  BOOST_TEST(refused<FileError>([&] { datasets::cifar10({.root = folder.path()}); }) ==
             "[datasets] \"" + path + "\": label 1 must lie in [0, 10); got 10");
  folder.write("cifar-10-batches-bin/data_batch_5.bin", {1, 2, 3});
  BOOST_TEST(refused<FileError>([&] { datasets::cifar10({.root = folder.path()}); }) ==
             "[datasets] \"" + path + "\" must hold samples of 3073 bytes; got 3 bytes");
}

BOOST_AUTO_TEST_CASE(hundred_classes) {
  const Folder folder;
  folder.write("train.bin", samples({{19, 99}}));
  folder.write("test.bin", samples({{3, 42}}));
  BOOST_TEST(datasets::cifar100({.root = folder.path()}).second.gather({0})["label"].item() == 42);
  BOOST_TEST(datasets::cifar100({.root = folder.path(), .label_mode = "coarse"}).first.gather({0})["label"].item() ==
             19);
  BOOST_TEST(refused<NameError>([] { datasets::cifar100({.label_mode = "all"}); }) ==
             "[cifar100] unknown label_mode \"all\"; valid names: coarse, fine");
  BOOST_TEST(refused<FileError>([] { datasets::cifar100({.root = "/nowhere"}); }).find("[cifar-100-binary]") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
