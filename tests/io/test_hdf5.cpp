#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/io/hdf5_writer.hpp>

#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"

namespace {

using namespace mezzo;
using detail::Hdf5File;
using mezzo_tests::refused;

std::string odd_file(const std::string& name) {
  return (mezzo_tests::tests_dir() / "parity" / "recorded" / "keras_files" / "hdf5" / name).string();
}

std::string error_of_file(const std::string& name) {
  return refused<FileError>([&] { const Hdf5File file(odd_file("refused_" + name + ".h5"), "[file]"); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hdf5)

BOOST_AUTO_TEST_CASE(numbers_of_h5py_are_read) {
  const Hdf5File file(odd_file("numbers.h5"), "[file]");
  for (const char* name : {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"}) {
    const Tensor numbers = file.read(std::string("group/") + name);
    BOOST_TEST((numbers.dtype() == dtype_from_name(name)), name);
    BOOST_TEST((numbers.to_doubles() == std::vector<double>{0, 1, 0, 1, 0, 1}), name);
    BOOST_TEST((numbers.shape() == Shape{2, 3}));
  }
  BOOST_TEST((file.read("big_endian").to_doubles() == std::vector<double>{0, 1, 2}));
  BOOST_TEST(file.read("scalar").item() == 1.5);
  BOOST_TEST((file.read("empty").shape() == Shape{0, 3}));
  BOOST_TEST(file.read("packed").to_doubles()[99] == 99);
  BOOST_TEST((*file.texts("", "one") == std::vector<std::string>{"text"}));
  BOOST_TEST((*file.texts("", "fixed") == std::vector<std::string>{"ab", "cde"}));
  BOOST_TEST(!file.texts("", "none").has_value());
  BOOST_TEST(file.has_group("group"));
  BOOST_TEST(!file.has_group("scalar"));
  BOOST_TEST(refused<FileError>([&] { file.read("x"); }) == "[file] must have the array \"x\"; the file lacks it");
}

BOOST_AUTO_TEST_CASE(what_keras_does_not_write_is_refused) {
  const std::string link = "[file] \"x\" is a soft or external link; these are not followed";
  BOOST_TEST(error_of_file("external_link") == link);
  BOOST_TEST(error_of_file("soft_link") == link);
  BOOST_TEST(error_of_file("external_storage") == "[file] \"x\" is stored in another file, which is not read");
  BOOST_TEST(error_of_file("virtual") ==
             "[file] \"x\" must be stored in this file, as h5py does by default; got a virtual array or the like");
  BOOST_TEST(error_of_file("lzf") == "[file] \"x\" must be packed by gzip or not at all; got filter 32000");
  BOOST_TEST(error_of_file("fletcher32") == "[file] \"x\" must be packed by gzip or not at all; got filter 3");
  const std::string type = "[file] \"x\" must be of numbers that mezzo has; got another type";
  for (const char* name : {"compound", "texts", "references"}) BOOST_TEST(error_of_file(name) == type);
  BOOST_TEST(error_of_file("not_stored") ==
             "[file] \"x\" must have 4000000000 bytes, for shape (1000000, 1000); the file has 0 for it");
  BOOST_TEST(error_of_file("null") == "[file] \"x\" must have 0 to 32 axes");
  BOOST_TEST(error_of_file("named_type") == "[file] \"x\" must be a group or an array; got a type");
  BOOST_TEST(error_of_file("cycle") == "[file] groups must be nested at most 32 deep");
}

BOOST_AUTO_TEST_CASE(files_are_written_and_read_again) {
  const auto write = [] {
    detail::Hdf5Writer writer("[file]");
    writer.add("a/vars/0", Tensor({2, 2}, std::vector<float>{1, 2, 3, 4}));
    writer.add("a/vars/1", Tensor({3}, std::vector<float>{1, 2, 3}).cast(DType::bfloat16));
    writer.add("b", Tensor::scalar(7, DType::int64));
    writer.add("half", Tensor({2}, std::vector<float>{0.5, -2}).cast(DType::float16));
    writer.add("flag", Tensor({2}, std::vector<float>{0, 1}).cast(DType::boolean));
    writer.add_text("a/vars", "name", "first");
    return writer.finish();
  };
  const detail::Bytes bytes = write();
  BOOST_TEST((bytes == write()));
  const Hdf5File file(bytes, "[file]");
  BOOST_TEST(file.arrays().size() == 5U);
  BOOST_TEST((file.read("a/vars/0").to_doubles() == std::vector<double>{1, 2, 3, 4}));
  BOOST_TEST((file.read("a/vars/1").dtype() == DType::bfloat16));
  BOOST_TEST((file.read("a/vars/1").to_doubles() == std::vector<double>{1, 2, 3}));
  BOOST_TEST(file.read("b").item() == 7);
  BOOST_TEST((file.read("half").to_doubles() == std::vector<double>{0.5, -2}));
  BOOST_TEST((file.read("flag").to_doubles() == std::vector<double>{0, 1}));
  BOOST_TEST((*file.texts("a/vars", "name") == std::vector<std::string>{"first"}));
  BOOST_TEST(file.element_count() == 12);
}

BOOST_AUTO_TEST_CASE(cut_files_are_refused) {
  detail::Hdf5Writer writer("[file]");
  writer.add("x", Tensor({100}));
  const detail::Bytes bytes = writer.finish();
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    const detail::Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    BOOST_CHECK_THROW(Hdf5File(cut, "[file]").read("x"), FileError);
  }
}

BOOST_AUTO_TEST_SUITE_END()
