#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>
#include <mezzo/io/idx.hpp>

#include "support/folder.hpp"
#include "support/gzip.hpp"
#include "support/throws.hpp"

using mezzo::FileError;
using mezzo::Tensor;

namespace {

using Bytes = std::vector<std::uint8_t>;

Tensor read(const Bytes& bytes) {
  const mezzo_tests::Folder folder;
  return mezzo::read_idx_file(folder.write("a", bytes));
}

void check_refused(const Bytes& bytes, const std::string& text) {
  const mezzo_tests::Folder folder;
  const std::string path = folder.write("a", bytes);
  mezzo_tests::check_throws<FileError>("[read_idx_file] \"" + path + "\": " + text,
                                       [&] { mezzo::read_idx_file(path); });
}

void check_numbers(const Bytes& bytes, const std::string& describe, const std::vector<double>& expected) {
  const Tensor tensor = read(bytes);
  BOOST_TEST(tensor.describe() == describe);
  BOOST_TEST(tensor.to_doubles() == expected, boost::test_tools::per_element());
}

const Bytes good = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};

}  // namespace

BOOST_AUTO_TEST_SUITE(idx)

BOOST_AUTO_TEST_CASE(arrays_are_read_plain_and_compressed) {
  check_numbers(good, "uint8 (2, 3)", {1, 2, 3, 4, 5, 255});
  check_numbers(mezzo_tests::gzip(good), "uint8 (2, 3)", {1, 2, 3, 4, 5, 255});
  check_numbers({0, 0, 8, 1, 0, 0, 0, 0}, "uint8 (0,)", {});
}

BOOST_AUTO_TEST_CASE(every_type_is_big_endian) {
  check_numbers({0, 0, 0x09, 1, 0, 0, 0, 2, 0xff, 1}, "int8 (2,)", {-1, 1});
  check_numbers({0, 0, 0x0B, 1, 0, 0, 0, 2, 1, 2, 0xff, 0xfe}, "int16 (2,)", {258, -2});
  check_numbers({0, 0, 0x0C, 1, 0, 0, 0, 1, 1, 2, 3, 4}, "int32 (1,)", {0x01020304});
  check_numbers({0, 0, 0x0D, 1, 0, 0, 0, 1, 0xbf, 0xc0, 0, 0}, "float32 (1,)", {-1.5});
  check_numbers({0, 0, 0x0E, 1, 0, 0, 0, 1, 0x40, 0x04, 0, 0, 0, 0, 0, 0}, "float64 (1,)", {2.5});
}

BOOST_AUTO_TEST_CASE(bad_headers_are_refused) {
  check_refused({}, "must be an IDX file, also compressed by gzip; it is an empty file: get the file again");
  check_refused({0, 0}, "must start with a magic number of 4 bytes; got 2 bytes");
  check_refused({0, 0, 8}, "must start with a magic number of 4 bytes; got 3 bytes");
  check_refused({0x89, 'P', 'N', 'G'}, "the magic number must start with two zero bytes; got 0x89 0x50");
  check_refused({0, 0, 0x0A, 1, 0, 0, 0, 0}, "the type code must be 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e; got 0x0a");
  check_refused({0, 0, 8, 0, 7}, "the rank must lie in [1, 8]; got 0");
  check_refused({0, 0, 8, 9}, "the rank must lie in [1, 8]; got 9");
  check_refused({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1}, "the header must have 16 bytes for rank 3; got 12");
}

BOOST_AUTO_TEST_CASE(sizes_must_agree_with_the_files_length) {
  Bytes bytes = good;
  bytes.pop_back();
  check_refused(bytes, "uint8 (2, 3) must have 6 bytes of data; got 5");
  bytes = good;
  bytes.push_back(0);
  check_refused(bytes, "uint8 (2, 3) must have 6 bytes of data; got 7");
  bytes = good;
  bytes[7] = 3;
  check_refused(bytes, "uint8 (3, 3) must have 9 bytes of data; got 6");
  check_refused(mezzo_tests::gzip(bytes), "uint8 (3, 3) must have 9 bytes of data; got 6");
}

BOOST_AUTO_TEST_CASE(a_shape_bomb_is_refused_before_anything_is_allocated) {
  const Bytes most = {255, 255, 255, 255};
  Bytes bytes = {0, 0, 8, 2};
  for (int i = 0; i < 2; ++i) bytes.insert(bytes.end(), most.begin(), most.end());
  check_refused(bytes, "uint8 (4294967295, 4294967295) must have 18446744065119617025 bytes of data; got 0");
  bytes[3] = 3;
  bytes.insert(bytes.end(), most.begin(), most.end());
  check_refused(bytes, "uint8 (4294967295, 4294967295, 4294967295) must have 2^64 or more bytes of data; got 0");
  // A size of zero among huge sizes gives an empty array.
  bytes[15] = bytes[14] = bytes[13] = bytes[12] = 0;
  BOOST_TEST(read(bytes).size() == 0);
}

// The header is read first, and no more is decompressed than it announces.
BOOST_AUTO_TEST_CASE(a_gzip_bomb_is_refused_before_it_is_decompressed) {
  const mezzo_tests::Folder folder;
  Bytes bomb = good;
  bomb.resize(30'000'000);
  const std::string path = folder.write("bomb.gz", mezzo_tests::gzip(bomb));
  mezzo_tests::check_throws<FileError>("[gunzip] \"" + path + "\": must decompress to at most 18 bytes; got more",
                                       [&] { mezzo::read_idx_file(path); });
  bomb = {0, 0, 8, 2, 255, 255, 255, 255, 0, 0, 0, 2};
  bomb.resize(30'000'000);
  check_refused(mezzo_tests::gzip(bomb),
                "uint8 (4294967295, 2) must have at most 4294967296 bytes of data; got 8589934590");
  // The caller's check comes before the data, which is cut off here.
  Bytes compressed = mezzo_tests::gzip(bomb);
  compressed.resize(1000);
  const std::string cut = folder.write("cut.gz", compressed);
  BOOST_CHECK_EXCEPTION(mezzo::read_idx_file(cut,
                                             [](mezzo::DType dtype, const mezzo::Shape& shape) {
                                               throw mezzo::ValueError(dtype_name(dtype) + mezzo::to_string(shape));
                                             }),
                        mezzo::ValueError, [](const mezzo::ValueError& error) {
                          return error.what() == std::string("uint8(4294967295, 2)");
                        });
}

BOOST_AUTO_TEST_CASE(other_errors_name_the_file_too) {
  const mezzo_tests::Folder folder;
  const std::string missing = folder.path("none.gz");
  mezzo_tests::check_throws<FileError>("[read_file] \"" + missing + "\": no such file or directory",
                                       [&] { mezzo::read_idx_file(missing); });
  Bytes compressed = mezzo_tests::gzip(good);
  compressed.pop_back();
  const std::string cut = folder.write("cut.gz", compressed);
  mezzo_tests::check_throws<FileError>("[gunzip] \"" + cut + "\": must be whole gzip data; got " +
                                           std::to_string(compressed.size()) + " bytes, which end too early",
                                       [&] { mezzo::read_idx_file(cut); });
}

BOOST_AUTO_TEST_SUITE_END()
