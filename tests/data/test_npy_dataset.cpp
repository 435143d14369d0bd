#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include <mezzo/data/loader.hpp>
#include <mezzo/data/npy_dataset.hpp>
#include <mezzo/io/npy.hpp>

#include "support/folder.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::Folder;

namespace {

std::string saved(const Folder& folder, const std::string& name, const Tensor& tensor) {
  save_npy(folder.path(name), tensor);
  return folder.path(name);
}

Tensor counting(const Shape& shape) {
  Tensor out(shape, DType::int32);
  std::iota(out.mutable_data<std::int32_t>(), out.mutable_data<std::int32_t>() + out.size(), 0);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(npy_dataset)

BOOST_AUTO_TEST_CASE(rows_of_files_are_samples) {
  const Folder folder;
  const Tensor y({4}, std::vector<double>{5, 6, 7, 8});
  const Dataset data = mezzo::npy_dataset(
      {{"x", saved(folder, "x.npy", counting({4, 3}))}, {"y", saved(folder, "y.npy", y), Role::target}});
  BOOST_TEST(data.size() == 4);
  BOOST_TEST((data.fields()[0].shape == Shape{3}));
  BOOST_TEST((data.fields()[0].dtype == DType::int32));
  BOOST_TEST((data.fields()[1].role == Role::target));
  const HostBatch batch = data.gather({3, 1});
  BOOST_TEST(batch["x"].to_doubles() == (std::vector<double>{9, 10, 11, 3, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(batch["y"].to_doubles() == (std::vector<double>{8, 6}), boost::test_tools::per_element());
  const Tensor flags = Tensor({2}, std::vector<float>{1, 0}).cast(DType::boolean);
  BOOST_TEST(mezzo::npy_dataset({{"f", saved(folder, "f.npy", flags)}}).gather({0, 1})["f"].equal(flags));
}

BOOST_AUTO_TEST_CASE(a_file_that_changes_is_an_error) {
  const Folder folder;
  const std::string path = saved(folder, "x.npy", counting({100, 3}));
  const auto bytes = std::filesystem::file_size(path);
  const DataLoader loader(mezzo::npy_dataset({{"x", path}}), {.batch_size = 10, .workers = 2});
  BOOST_TEST(loader.epoch(0).next()->size == 10);
  BOOST_REQUIRE(::truncate(path.c_str(), static_cast<off_t>(bytes - 600)) == 0);
  check_throws<FileError>("[DataLoader] sample 90: [npy_dataset \"" + path + "\"] the file must have " +
                              std::to_string(bytes) + " bytes, as when it was opened; got " +
                              std::to_string(bytes - 600),
                          [&] { loader.epoch(1, 9).next(); });

  const std::string other = saved(folder, "y.npy", counting({2}));
  const Dataset data = mezzo::npy_dataset({{"y", other}});
  std::filesystem::last_write_time(other, std::filesystem::last_write_time(other) + std::chrono::seconds(1));
  check_throws<FileError>("[Dataset] sample 0: [npy_dataset \"" + other +
                              "\"] the file must stay as it was when it was opened; it has been written to",
                          [&] { data.gather({0}); });

  const Dataset replaced = mezzo::npy_dataset({{"z", saved(folder, "z.npy", counting({2}))}});
  saved(folder, "z.npy", Tensor({2}, std::vector<std::int32_t>{8, 9}));
  BOOST_TEST(replaced.gather({1})["z"].item() == 1);
}

BOOST_AUTO_TEST_CASE(files_are_checked_when_they_are_opened) {
  const Folder folder;
  const std::string x = saved(folder, "x.npy", counting({4, 3}));
  const auto open = [](const std::string& path) { return [path] { mezzo::npy_dataset({{"x", path}}); }; };
  check_throws<FileError>("[npy_dataset \"" + folder.path("no") +
                              "\"] no such file or "
                              "directory",
                          open(folder.path("no")));
  const std::string scalar = saved(folder, "scalar.npy", Tensor::scalar(1));
  check_throws<FileError>(
      "[npy_dataset \"" + scalar + "\"] the array must have an axis 0 that counts the samples; got shape ()",
      open(scalar));
  check_throws<ShapeError>("[npy_dataset] field \"y\" must have 4 samples, as \"x\" has; got shape (2,)", [&] {
    mezzo::npy_dataset({{"x", x}, {"y", saved(folder, "y.npy", counting({2}))}});
  });
  check_throws<ValueError>("[Dataset] the names of the fields must differ; got \"x\" twice", [&] {
    mezzo::npy_dataset({{"x", x}, {"x", x}});
  });
  check_throws<ValueError>("[Dataset] there must be at least 1 field; got none", [] { mezzo::npy_dataset({}); });
  std::string bytes;
  {
    std::ifstream in(x, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string fortran = folder.path("fortran.npy");
  const std::size_t at = bytes.find("False");
  BOOST_REQUIRE(at != std::string::npos);
  std::ofstream(fortran, std::ios::binary) << bytes.replace(at, 5, "True ");
  check_throws<FileError>(
      "[npy_dataset \"" + fortran + "\"] the array must be in C order; got Fortran order, which load_npy reads",
      open(fortran));
}

BOOST_AUTO_TEST_SUITE_END()
