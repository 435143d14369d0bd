#include <boost/test/unit_test.hpp>

#include <zlib.h>

#include <algorithm>

#include <mezzo/data/image/decode.hpp>
#include <mezzo/data/image/encode.hpp>

#include "support/folder.hpp"
#include "support/jpeg.hpp"
#include "support/recorded.hpp"
#include "support/recorded_pictures.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using image::decode_image;
using mezzo_tests::check_throws;
using mezzo_tests::picture_file;
using mezzo_tests::recorded;

namespace {

detail::Bytes first(const detail::Bytes& bytes, std::size_t count) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decode)

BOOST_AUTO_TEST_CASE(pixels_are_those_of_pillow) {
  const auto& cases = recorded("image").at("decode");
  BOOST_TEST_REQUIRE(cases.size() >= 58U);
  for (const auto& [name, one] : cases.items()) {
    BOOST_TEST_CONTEXT(name) {
      const Tensor pixels = decode_image(picture_file(name), name);
      BOOST_TEST(pixels.shape() == one.at("shape").get<Shape>(), boost::test_tools::per_element());
      BOOST_TEST(pixels.to_doubles() == one.at("pixels").get<std::vector<double>>(), boost::test_tools::per_element());
      BOOST_TEST((pixels.dtype() == DType::uint8));
    }
  }
}

BOOST_AUTO_TEST_CASE(files_are_read) {
  const mezzo_tests::Folder folder;
  const std::string path = folder.write("a.jpg", picture_file("png rgb"));  // the content tells the format
  BOOST_TEST(image::read_image(path).equal(decode_image(picture_file("png rgb"), "")));
  const std::string missing = folder.path("none.jpg");
  check_throws<FileError>("[read_file] \"" + missing + "\": no such file or directory",
                          [&] { image::read_image(missing); });
  const std::string text = folder.write("text.jpg", {'t', 'e', 'x', 't'});
  check_throws<FileError>("[read_image \"" + text +
                              "\"] must be a picture; it is a text: a failed download may have left a message in "
                              "place of the file",
                          [&] { image::read_image(text); });
  const std::string other = folder.write("other.jpg", {1, 2, 3, 4});
  check_throws<FileError>(
      "[decode_image] \"" + other +
          "\": must start as a JPEG, PNG, BMP, TIFF or WebP file does; got 4 bytes of another format",
      [&] { image::read_image(other); });
}

BOOST_AUTO_TEST_CASE(every_truncation_is_refused) {
  for (const char* name : {"jpeg 4:2:0", "jpeg progressive", "jpeg cmyk", "png rgb", "png interlaced",
                           "bmp runs of 8 bits", "bmp runs of 4 bits", "webp lossless", "webp lossy with alpha"}) {
    const detail::Bytes whole = picture_file(name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      BOOST_TEST_CONTEXT(name << ", " << size << " of " << whole.size() << " bytes") {
        BOOST_CHECK_THROW(decode_image(first(whole, size), name), FileError);
      }
    }
  }
  const detail::Bytes jpeg = picture_file("jpeg 4:2:0");
  check_throws<FileError>("[decode_image] \"x.jpg\": not a whole JPEG file: Premature end of JPEG file",
                          [&] { decode_image(first(jpeg, jpeg.size() - 40), "x.jpg"); });
  const detail::Bytes png = picture_file("png rgb");
  check_throws<FileError>("[decode_image] \"x.png\": not a whole PNG file: the file is truncated",
                          [&] { decode_image(first(png, png.size() - 40), "x.png"); });
}

BOOST_AUTO_TEST_CASE(a_damaged_file_decodes_or_is_refused) {
  int refused = 0;
  for (const char* name : {"jpeg 4:2:0", "jpeg progressive", "jpeg cmyk", "png palette", "png 16 bit gray",
                           "bmp 4 bits", "bmp runs of 8 bits", "bmp runs of 4 bits", "tiff tiff_lzw", "tiff tiles",
                           "tiff jpeg", "tiff palette", "webp lossless", "webp lossy with alpha", "webp animated"}) {
    const detail::Bytes whole = picture_file(name);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      detail::Bytes damaged = whole;
      damaged[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
      try {
        const Tensor pixels = decode_image(damaged, name, {.max_pixels = 100'000});
        BOOST_TEST(pixels.size() <= 300'000);
      } catch (const FileError&) {
        ++refused;
      }
    }
  }
  BOOST_TEST(refused > 100);
}

BOOST_AUTO_TEST_CASE(bytes_before_the_end_marker_are_ignored) {
  for (const char* name : {"jpeg 4:2:0", "jpeg progressive"}) {
    const detail::Bytes whole = picture_file(name);
    detail::Bytes longer = whole;
    longer.insert(longer.end() - 2, 5, 0x55);
    BOOST_TEST(decode_image(longer, name).equal(decode_image(whole, name)), name);
  }
}

BOOST_AUTO_TEST_CASE(an_error_has_the_reason_of_libpng) {
  detail::Bytes png = picture_file("png rgb");
  png[png.size() - 20] ^= 1;
  check_throws<FileError>("[decode_image] \"x.png\": not a whole PNG file: IDAT: incorrect data check",
                          [&] { decode_image(png, "x.png"); });
}

BOOST_AUTO_TEST_CASE(a_header_claims_no_more_than_the_limit) {
  detail::Bytes png = picture_file("png rgb");
  check_throws<FileError>("[decode_image] \"x\": must have 1 to 142 pixels; got 13 x 11",
                          [&] { decode_image(png, "x", {.max_pixels = 142}); });
  BOOST_TEST(decode_image(png, "x", {.max_pixels = 143}).size() == 3 * 143);
  detail::Bytes jpeg = picture_file("jpeg 4:4:4");
  for (std::size_t i = 0; i + 9 < jpeg.size(); ++i) {
    if (jpeg[i] == 0xff && jpeg[i + 1] == 0xc0) {
      for (std::size_t k = 5; k < 9; ++k) jpeg[i + k] = k % 2 == 0 ? 0xff : 0xfe;  // height, width
      break;
    }
  }
  check_throws<FileError>("[decode_image] \"x\": must have 1 to 89478485 pixels; got 65279 x 65279",
                          [&] { decode_image(jpeg, "x"); });
}

// Nearly as many pixels as are allowed, in a small file.
BOOST_AUTO_TEST_CASE(a_header_claims_no_more_than_its_file_can_hold) {
  detail::Bytes png = picture_file("png rgb");
  png.resize(80);
  const detail::Bytes size{0, 0, 0, 1, 5, 0, 0, 0};  // 1 x 83,886,080
  std::copy(size.begin(), size.end(), png.begin() + 16);
  const std::uint32_t sum = static_cast<std::uint32_t>(crc32(0, png.data() + 12, 17));
  for (int i = 0; i < 4; ++i) png[29U + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
  check_throws<FileError>(
      "[decode_image] \"x\": a PNG file of 83886080 x 1 pixels must have at least 243854 bytes; got 80",
      [&] { decode_image(png, "x"); });
  detail::Bytes jpeg = picture_file("jpeg progressive");
  const detail::Bytes start{0xff, 0xc2};
  const auto frame = std::search(jpeg.begin(), jpeg.end(), start.begin(), start.end());
  BOOST_REQUIRE((frame != jpeg.end()));
  for (int k = 5; k < 9; ++k) frame[k] = k % 2 == 0 ? 0 : 0x20;  // 8192 x 8192
  check_throws<FileError>(
      "[decode_image] \"x\": a JPEG file of 8192 x 8192 pixels must have at least 131072 bytes; got " +
          std::to_string(jpeg.size()),
      [&] { decode_image(jpeg, "x"); });
}

BOOST_AUTO_TEST_CASE(pictures_of_one_color_are_no_claim) {
  const Tensor blank({600, 700, 3}, DType::uint8);
  BOOST_TEST(decode_image(image::encode_png(blank), "x").equal(blank));
  for (const int flags : {0, TJFLAG_PROGRESSIVE}) {
    BOOST_TEST(decode_image(mezzo_tests::jpeg(blank, flags), "x").equal(blank));
  }
}

BOOST_AUTO_TEST_CASE(many_scans_are_refused) {
  detail::Bytes jpeg = picture_file("jpeg progressive");
  const auto find = [&](std::size_t from, std::uint8_t marker) {
    for (std::size_t i = from; i + 1 < jpeg.size(); ++i) {
      if (jpeg[i] == 0xff && jpeg[i + 1] == marker) return i;
    }
    return jpeg.size();
  };
  const std::size_t begin = find(0, 0xda), end = std::min(find(begin + 2, 0xda), find(begin + 2, 0xc4));
  BOOST_REQUIRE(end < jpeg.size());
  const detail::Bytes scan(jpeg.begin() + static_cast<std::ptrdiff_t>(begin),
                           jpeg.begin() + static_cast<std::ptrdiff_t>(end));
  for (int i = 0; i < 510; ++i)
    jpeg.insert(jpeg.begin() + static_cast<std::ptrdiff_t>(begin), scan.begin(), scan.end());
  BOOST_CHECK_EXCEPTION(decode_image(jpeg, "x"), FileError, [](const FileError& error) {
    BOOST_TEST(std::string(error.what()).find("more than 500 scans") != std::string::npos, error.what());
    return true;
  });
}

// Each text could be inflated to 8 MB.
BOOST_AUTO_TEST_CASE(compressed_texts_are_skipped) {
  const detail::Bytes picture = picture_file("png rgb");
  detail::Bytes text{0, 0, 0, 0, 'z', 'T', 'X', 't', 'a', 0, 0};
  detail::Bytes content(1'000'000);
  uLongf size = compressBound(content.size());
  text.resize(11 + size);
  BOOST_REQUIRE(compress(text.data() + 11, &size, content.data(), content.size()) == Z_OK);
  text.resize(11 + size);
  const auto number_at = [&](std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) text[at + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  };
  number_at(0, static_cast<std::uint32_t>(size + 3));
  const auto sum = static_cast<std::uint32_t>(crc32(0, text.data() + 4, static_cast<uInt>(size + 7)));
  text.resize(text.size() + 4);
  number_at(text.size() - 4, sum);
  detail::Bytes png = picture;
  for (int i = 0; i < 3; ++i) png.insert(png.begin() + 33, text.begin(), text.end());
  BOOST_TEST(decode_image(png, "x").equal(decode_image(picture, "x")));
}

BOOST_AUTO_TEST_SUITE_END()
