#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <filesystem>
#include <map>

#include <mezzo/core/error.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/io/npy.hpp>

#include "io/numpy_files.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A version 1.0 file of that header and so many zero bytes.
detail::Bytes npy_bytes(const std::string& header, std::size_t data) {
  detail::Bytes bytes{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  bytes.push_back(static_cast<std::uint8_t>(header.size() & 0xffU));
  bytes.push_back(static_cast<std::uint8_t>(header.size() >> 8U));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(bytes.size() + data);
  return bytes;
}

void check_refused(const detail::Bytes& bytes, const std::string& text) {
  const Folder folder;
  const std::string path = folder.write("a.npy", bytes);
  check_throws<FileError>("[load_npy \"" + path + "\"] " + text, [&] { load_npy(path); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(npy)

BOOST_AUTO_TEST_CASE(every_dtype_and_shape_makes_the_round_trip) {
  const Folder folder;
  for (const DType dtype : all_dtypes) {
    if (dtype == DType::bfloat16) continue;
    for (const Shape& shape :
         {Shape{}, Shape{1}, Shape{7}, Shape{2, 3}, Shape{2, 1, 3, 4}, Shape{0}, Shape{3, 0, 2}, Shape(40, 1)}) {
      const Tensor tensor = random_tensor(shape, dtype, 3, 0, 90);
      save_npy(folder.path("a.npy"), tensor);
      BOOST_TEST(load_npy(folder.path("a.npy")).equal(tensor), tensor.describe());
    }
  }
}

BOOST_AUTO_TEST_CASE(files_of_numpy_are_read) {
  const Folder folder;
  for (const auto& [name, recorded] : recorded("npy").at("arrays").items()) {
    BOOST_TEST_CONTEXT(name) { check_array(load_npy(folder.write("a.npy", file_bytes(recorded))), recorded); }
  }
}

BOOST_AUTO_TEST_CASE(numpy_writes_the_same_bytes) {
  const Folder folder;
  for (const std::string name : {"float32", "float16", "bool", "shape ()", "shape (3,)", "shape (0, 3)"}) {
    const detail::Bytes file = file_bytes(recorded("npy").at("arrays").at(name));
    save_npy(folder.path("b.npy"), load_npy(folder.write("a.npy", file)));
    BOOST_TEST((detail::read_file(folder.path("b.npy"), 10'000) == file), name);
  }
}

BOOST_AUTO_TEST_CASE(a_field_of_a_structured_array_is_read) {
  const Folder folder;
  for (const auto& [name, recorded] : recorded("npy").at("structured").items()) {
    const std::string path = folder.write("a.npy", file_bytes(recorded));
    for (const auto& [field, column] : recorded.at("fields").items()) {
      BOOST_TEST_CONTEXT(name << " " << field) { check_array(load_npy(path, {.field = field}), column); }
    }
  }
  const std::string path = folder.write("a.npy", file_bytes(recorded("npy").at("structured").at("packed")));
  const std::string where = "[load_npy \"" + path + "\"] ";
  const std::string fields = "id, name, position.x, position.y, pixels, old, flag";
  check_throws<NameError>(where + "unknown field \"x\"; valid names: " + fields,
                          [&] { load_npy(path, {.field = "x"}); });
  for (const char* apart : {"points.x", "position", "position.", "pixels."}) {
    BOOST_CHECK_THROW(load_npy(path, {.field = apart}), NameError);
  }
  check_throws<FileError>(
      where + "the array is structured: name one of its fields, {.field = \"id\"}; it has " + fields,
      [&] { load_npy(path); });
  BOOST_TEST(load_npy(path, {.field = "old"}).describe() == "int32 (4,)");
  save_npy(folder.path("b.npy"), Tensor({2}));
  check_throws<NameError>(
      "[load_npy \"" + folder.path("b.npy") + "\"] the array must have fields to read \"x\"; it has none",
      [&] { load_npy(folder.path("b.npy"), {.field = "x"}); });
}

BOOST_AUTO_TEST_CASE(unsigned_numbers_are_widened) {
  const Folder folder;
  for (const auto& [name, recorded] : recorded("npy").at("unsigned").items()) {
    BOOST_TEST_CONTEXT(name) { check_array(load_npy(folder.write("a.npy", file_bytes(recorded))), recorded); }
  }
  detail::Bytes large = file_bytes(recorded("npy").at("unsigned").at("<u8"));
  large.back() = 0x80;
  const std::string path = folder.write("a.npy", large);
  check_throws<FileError>(
      "[load_npy \"" + path + "\"] numbers of uint64 must be below 2^63; got 9295429630892703743 at element 3",
      [&] { load_npy(path); });
}

BOOST_AUTO_TEST_CASE(other_dtypes_are_refused) {
  const Folder folder;
  const std::string advice = ": convert it in numpy, x.astype(\"int64\") or the like";
  const std::map<std::string, std::string> names{{"<c8", "complex64 (<c8)" + advice},
                                                 {"<c16", "complex128 (<c16)" + advice},
                                                 {"<f16", "longdouble (<f16)" + advice},
                                                 {"<U3", "<U3 (texts)"},
                                                 {"|S3", "|S3 (bytes)"},
                                                 {"<M8[s]", "<M8[s] (dates)"},
                                                 {"|V5", "|V5 (bytes without a type)"},
                                                 {"object", "|O (objects)"}};
  for (const auto& [name, file] : recorded("npy").at("refused").items()) {
    const std::string path = folder.write("a.npy", from_hex(file.get<std::string>()));
    const std::string text = refused<FileError>([&] { load_npy(path); });
    const std::string expected = "[load_npy \"" + path +
                                 "\"] the dtype must be one of float32, float64, float16, int8, int16, int32, int64, "
                                 "uint8, bool, uint16, uint32, uint64; got ";
    BOOST_TEST(text.substr(0, expected.size()) == expected, name);
    const std::string got = text.substr(std::min(expected.size(), text.size()));
    BOOST_TEST(got == names.at(name), name);
  }
  check_throws<DTypeError>(
      "[save_npy \"a.npy\"] the dtype must be one that numpy has; got bfloat16: cast to float32 first",
      [] { save_npy("a.npy", Tensor({2}, DType::bfloat16)); });
  BOOST_TEST(!std::filesystem::exists("a.npy"));
}

BOOST_AUTO_TEST_CASE(malformed_files_are_refused) {
  check_refused({}, "must be an array of NumPy (.npy); it is an empty file: get the file again");
  check_refused({'P', 'K', 3, 4, 0, 0, 0, 0},
                "must begin with \\x93NUMPY and a version; got PK\\x03\\x04\\x00\\x00\\x00\\x00");
  check_refused({0x93, 'N', 'U', 'M', 'P', 'Y', 4, 0}, "the version must be 1.0, 2.0 or 3.0; got 4.0");
  check_refused({0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 1}, "must begin with 12 bytes before the header; got 9");
  check_refused({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 9, 1, 'a'},
                "the header must have 265 bytes, as its length says; got 1");
  const std::string expected = "the header must be a dictionary of 'descr', 'fortran_order' and 'shape'; got ";
  for (const std::string header :
       {"", "{", "{}", "[]", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x"}) {
    const std::string shown = header.size() > 60 ? header.substr(0, 60) + "..." : header;
    check_refused(npy_bytes(header, 8), expected + shown);
  }
  const auto with_shape = [](const std::string& shape) {
    return npy_bytes("{'shape': " + shape + ", 'fortran_order': False, 'descr': '<f4'}\n", 8);
  };
  check_refused(with_shape("(3,)"), "float32 (3,) must have 12 bytes of elements; got 8");
  check_refused(with_shape("()"), "float32 () must have 4 bytes of elements; got 8");
  check_refused(with_shape("(4294967296, 4294967296)"),
                "float32 (4294967296, 4294967296) must have 2^64 or more bytes of elements; got 8");
  check_refused(with_shape("(0, 4611686018427387904)"),
                "float32 (0, 4611686018427387904) must have 0 bytes of elements; got 8");
  detail::Bytes bools = npy_bytes("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }\n", 2);
  bools.back() = 2;
  check_refused(bools, "bools must be 0 or 1; got 2 at element 1");
  const Folder folder;
  BOOST_CHECK_THROW(load_npy(folder.path("missing")), FileError);
  BOOST_CHECK_THROW(load_npy(folder.path()), FileError);
}

BOOST_AUTO_TEST_CASE(damaged_files_are_read_or_refused) {
  const Folder folder;
  for (const std::string name : {"float32", "float16 in Fortran order", "version 2.0", "big-endian int64"}) {
    const detail::Bytes file = file_bytes(recorded("npy").at("arrays").at(name));
    for (std::size_t size = 0; size < file.size(); ++size) {
      const std::string path =
          folder.write("a.npy", detail::Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
      BOOST_CHECK_THROW(load_npy(path), FileError);
    }
    check_mutations(file, [&](const detail::Bytes& bytes) { load_npy(folder.write("a.npy", bytes)); });
  }
}

BOOST_AUTO_TEST_CASE(damaged_structured_files_are_read_or_refused) {
  const Folder folder;
  const detail::Bytes file = file_bytes(recorded("npy").at("structured").at("packed"));
  check_mutations(file, [&](const detail::Bytes& bytes) {
    try {
      load_npy(folder.write("a.npy", bytes), {.field = "position.y"});
    } catch (const NameError&) {
    }
  });
}

BOOST_AUTO_TEST_CASE(a_file_is_replaced_as_a_whole) {
  const Folder folder;
  save_npy(folder.path("a.npy"), Tensor::scalar(1));
  BOOST_CHECK_THROW(save_npy(folder.path("a.npy"), Tensor({3}, DType::bfloat16)), DTypeError);
  BOOST_TEST(load_npy(folder.path("a.npy")).item() == 1);
  BOOST_CHECK_THROW(save_npy(folder.path("none/a.npy"), Tensor::scalar(1)), FileError);
}

BOOST_AUTO_TEST_SUITE_END()
