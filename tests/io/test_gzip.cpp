#include <boost/test/unit_test.hpp>

#include <limits>

#include <mezzo/core/error.hpp>
#include <mezzo/io/gzip.hpp>

#include "support/folder.hpp"
#include "support/gzip.hpp"
#include "support/throws.hpp"

using mezzo::FileError;
using mezzo::detail::Bytes;
using mezzo_tests::check_throws;

namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// Returns zeros and, in the second half, random bytes.
Bytes content(std::size_t size) {
  Bytes bytes(size);
  std::uint32_t state = 1;
  for (std::size_t i = size / 2; i < size; ++i) {
    state = state * 1664525U + 1013904223U;
    bytes[i] = static_cast<std::uint8_t>(state >> 24);
  }
  return bytes;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes expand(const Bytes& bytes, std::uint64_t limit = no_limit) { return mezzo::gunzip(bytes, "a.gz", limit); }

}  // namespace

BOOST_AUTO_TEST_SUITE(gzip)

BOOST_AUTO_TEST_CASE(decompresses_what_was_compressed) {
  for (const std::size_t size : {0, 1, 1000, 300000}) {
    BOOST_TEST((expand(mezzo_tests::gzip(content(size))) == content(size)));
    BOOST_TEST((expand(mezzo_tests::gzip(content(size)), size) == content(size)));
  }
  BOOST_TEST((expand(mezzo_tests::gzip(Bytes(5000000))) == Bytes(5000000)));
}

BOOST_AUTO_TEST_CASE(members_follow_each_other) {
  const Bytes two = mezzo_tests::gzip(content(5000)) + mezzo_tests::gzip(content(10));
  BOOST_TEST((expand(two) == content(5000) + content(10)));
}

BOOST_AUTO_TEST_CASE(every_truncation_is_refused) {
  const Bytes whole = mezzo_tests::gzip(content(200));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    check_throws<FileError>(
        "[gunzip] \"a.gz\": must be whole gzip data; got " + std::to_string(size) + " bytes, which end too early",
        [&] { expand(part); });
  }
}

BOOST_AUTO_TEST_CASE(no_flipped_bit_changes_the_content) {
  const Bytes whole = mezzo_tests::gzip(content(200));
  int expanded = 0;
  int same = 0;
  for (std::size_t bit = 80; bit < whole.size() * 8; ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    try {
      same += expand(flipped) == content(200);  // a flipped bit of padding changes nothing
      ++expanded;
    } catch (const FileError&) {
    }
  }
  BOOST_TEST(expanded == same);
  BOOST_TEST(expanded < 8);
}

BOOST_AUTO_TEST_CASE(errors_name_the_place_of_the_damage) {
  Bytes bad = mezzo_tests::gzip(content(200));
  bad[bad.size() - 8] ^= 1;
  const std::string size = std::to_string(bad.size());
  check_throws<FileError>("[gunzip] \"a.gz\": must be gzip data; got other data at byte " +
                              std::to_string(bad.size() - 4) + " of " + size + " (zlib: incorrect data check)",
                          [&] { expand(bad); });
  check_throws<FileError>(
      "[gunzip] \"a.gz\": must be gzip data; got other data at byte 2 of 4 (zlib: incorrect header check)", [&] {
        expand({'t', 'e', 'x', 't'});
      });
}

BOOST_AUTO_TEST_CASE(trailing_bytes_are_refused) {
  const Bytes whole = mezzo_tests::gzip(content(200));
  BOOST_CHECK_THROW(expand(whole + Bytes{0}), FileError);
  BOOST_CHECK_THROW(expand(whole + Bytes{0, 0, 0, 0}), FileError);
  BOOST_CHECK_THROW(expand(whole + Bytes{0x1f, 0x8b}), FileError);
}

BOOST_AUTO_TEST_CASE(a_bomb_stops_at_the_limit) {
  Bytes bomb = mezzo_tests::gzip(Bytes(3000000));
  check_throws<FileError>("[gunzip] \"a.gz\": must decompress to at most 1000 bytes; got more",
                          [&] { expand(bomb, 1000); });
  // The stored size of the content is used as a hint only.
  for (std::size_t i = 1; i <= 4; ++i) bomb[bomb.size() - i] = 0xff;
  BOOST_CHECK_THROW(expand(bomb), FileError);
  for (std::size_t i = 1; i <= 4; ++i) bomb[bomb.size() - i] = 0;
  BOOST_CHECK_THROW(expand(bomb), FileError);
}

BOOST_AUTO_TEST_CASE(a_start_is_decompressed_alone) {
  const Bytes whole = mezzo_tests::gzip(content(5000)) + mezzo_tests::gzip(content(10));
  for (const std::size_t count : {1, 36, 4999, 5000, 5001, 5010, 6000}) {
    Bytes expected = content(5000) + content(10);
    expected.resize(std::min(count, expected.size()));
    BOOST_TEST((mezzo::gunzip_start(whole, "a.gz", count) == expected), count);
  }
  const Bytes part(whole.begin(), whole.begin() + 1000);  // what follows is not looked at
  BOOST_TEST((mezzo::gunzip_start(part, "a.gz", 36) == Bytes(36)));
  BOOST_CHECK_THROW(mezzo::gunzip_start(part, "a.gz", 5000), FileError);
}

BOOST_AUTO_TEST_CASE(files_are_read_plain_or_compressed) {
  const mezzo_tests::Folder folder;
  const std::string plain = folder.write("a", content(100));
  const std::string compressed = folder.write("b", mezzo_tests::gzip(content(100)));
  BOOST_TEST((mezzo::read_gzip_file(plain, 1000) == content(100)));
  BOOST_TEST((mezzo::read_gzip_file(compressed, 1000) == content(100)));
  const std::string cut = folder.write("c.gz", {0x1f, 0x8b, 8});
  check_throws<FileError>("[gunzip] \"" + cut + "\": must be whole gzip data; got 3 bytes, which end too early",
                          [&] { mezzo::read_gzip_file(cut, 1000); });
}

BOOST_AUTO_TEST_SUITE_END()
