// BMP, TIFF and WebP files, and channels of 16 bits.
#include <boost/test/unit_test.hpp>

#include <mezzo/data/image/decode.hpp>

#include "support/recorded_pictures.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using boost::test_tools::per_element;
using image::decode_image;
using mezzo_tests::check_throws;
using mezzo_tests::picture_file;
using mezzo_tests::recorded;

namespace {

std::string error_of(const detail::Bytes& bytes, const image::DecodeOptions& options = {}) {
  try {
    decode_image(bytes, "x", options);
  } catch (const FileError& error) {
    return error.what();
  }
  return "none";
}

detail::Bytes changed(detail::Bytes bytes, std::size_t at, const detail::Bytes& to) {
  std::copy(to.begin(), to.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  return bytes;
}

// Offset of an entry of a little-endian TIFF file's directory.
std::size_t entry_of(const detail::Bytes& tiff, std::uint64_t tag) {
  const std::uint64_t at = detail::little_endian(tiff.data() + 4, 4);
  for (std::uint64_t i = at + 2; i + 12 <= tiff.size(); i += 12) {
    if (detail::little_endian(tiff.data() + i, 2) == tag) return i;
  }
  throw std::runtime_error("no such entry");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decode_formats)

BOOST_AUTO_TEST_CASE(channels_of_16_bits_equal_tensorflow) {
  for (const auto& [name, one] : recorded("deep_pictures").items()) {
    BOOST_TEST_CONTEXT(name) {
      const Tensor deep = decode_image(picture_file(name), name, {.dtype = DType::int32});
      BOOST_TEST((deep.dtype() == DType::int32));
      BOOST_TEST(deep.to_doubles() == one.at("uint16").get<std::vector<double>>(), per_element());
      const Tensor upper = decode_image(picture_file(name), name);
      BOOST_TEST(upper.to_doubles() == one.at("uint8").get<std::vector<double>>(), per_element());
    }
  }
  check_throws<DTypeError>("[decode_image] dtype must be uint8 or int32 (0 to 65535); got float32",
                           [] { decode_image(picture_file("png rgb"), "x", {.dtype = DType::float32}); });
}

// 8 x 8 pixels, i * 1040.
BOOST_AUTO_TEST_CASE(gray_of_16_bits) {
  const detail::Bytes png = mezzo_tests::bytes_of_hex(
      "89504e470d0a1a0a0000000d4948445200000008000000081000000000b1f43d140000002349444154789c636460601140868c0a0d68028e"
      "682a5830543411547118dd96c7682a002ef0093885ca53fc0000000049454e44ae426082");
  const Tensor upper = decode_image(png, "x"), deep = decode_image(png, "x", {.dtype = DType::int32});
  BOOST_TEST_REQUIRE(deep.size() % 3 == 0);
  for (std::int64_t i = 0; i < deep.size(); ++i) {
    BOOST_TEST(deep.data<std::int32_t>()[i] == i / 3 * 1040);
    BOOST_TEST(upper.data<std::uint8_t>()[i] == (i / 3 * 1040) >> 8);
  }
}

BOOST_AUTO_TEST_CASE(values_of_16_bits_keep_their_upper_byte_in_all_formats) {
  for (const char* name : {"tiff 16 bit rgb <", "tiff 16 bit rgb >", "tiff 16 bit gray"}) {
    const Tensor upper = decode_image(picture_file(name), name);
    const Tensor deep = decode_image(picture_file(name), name, {.dtype = DType::int32});
    int others = 0;
    for (std::int64_t i = 0; i < deep.size(); ++i) {
      BOOST_TEST((deep.data<std::int32_t>()[i] >> 8) == upper.data<std::uint8_t>()[i]);
      others += deep.data<std::int32_t>()[i] % 257 != 0 ? 1 : 0;
    }
    BOOST_TEST(others > 100);
  }
  for (const char* name : {"tiff palette", "tiff jpeg", "tiff cmyk", "webp lossy", "bmp 16 bits", "jpeg gray"}) {
    const std::vector<double> narrow = decode_image(picture_file(name), name).to_doubles();
    const std::vector<double> wide = decode_image(picture_file(name), name, {.dtype = DType::int32}).to_doubles();
    for (std::size_t i = 0; i < narrow.size(); ++i) BOOST_TEST(wide[i] == narrow[i] * 257);
  }
}

BOOST_AUTO_TEST_CASE(bmp_files_that_are_refused) {
  const detail::Bytes rgb = picture_file("bmp rgb"), runs = picture_file("bmp runs of 8 bits");
  BOOST_TEST(error_of(changed(rgb, 28, {5, 0})) ==
             "[decode_image] \"x\": a BMP file must have 1, 2, 4, 8, 16, 24 or 32 bits a pixel, plain, in runs (4 and "
             "8 bits) or with masks (16 and 32 bits); got 5 bits and the form 0");
  BOOST_TEST(error_of(changed(rgb, 30, {4})).ends_with("got 24 bits and the form 4"));  // JPEG in a BMP file
  BOOST_TEST(error_of(changed(rgb, 10, {0, 0, 1, 0})) ==
             "[decode_image] \"x\": not a whole BMP file: its pixels must begin at byte 65536; got " +
                 std::to_string(rgb.size()) + " bytes");
  BOOST_TEST(error_of(changed(rgb, 18, {0, 1})) ==
             "[decode_image] \"x\": a BMP file of 13 x 256 pixels must have at least 10038 bytes; got " +
                 std::to_string(rgb.size()));
  BOOST_TEST(error_of(changed(rgb, 18, {0, 0, 0, 128})) ==
             "[decode_image] \"x\": must have 1 to 89478485 pixels; got 13 x -2147483648");
  BOOST_TEST(error_of(changed(picture_file("bmp 16 bits"), 54, {5, 0})) ==
             "[decode_image] \"x\": the bits of a mask must be next to each other; got 0x5");
  BOOST_TEST(error_of(changed(runs, runs.size() - 4, {60})) ==
             "[decode_image] \"x\": a run must end in a picture of 13 x 11 pixels; it reaches row 12, column 11");
  BOOST_TEST(error_of(changed(runs, 18, {0, 32, 0, 0, 0, 32})) ==
             "[decode_image] \"x\": a BMP file of 8192 x 8192 pixels must have at least 4128 bytes; got " +
                 std::to_string(runs.size()));
  BOOST_TEST(error_of(changed(runs, runs.size() - 5, {200})) ==
             "[decode_image] \"x\": a pixel's color must be below 16; got 200");
  const detail::Bytes letters{'B', 'M', ' ', 'i', 's', ' ', 'a', ' ', 't', 'e', 'x', 't', ' ', 'o', 'f', ' ', '2', '0'};
  BOOST_TEST(error_of(letters).ends_with("got 18 bytes of another format"));
}

BOOST_AUTO_TEST_CASE(tiff_files_that_are_refused) {
  const detail::Bytes raw = picture_file("tiff raw"), tiles = picture_file("tiff tiles");
  const auto with = [](const detail::Bytes& file, std::uint64_t tag, const detail::Bytes& value) {
    return changed(file, entry_of(file, tag) + 8, value);
  };
  const std::string where = "[decode_image] \"x\": ";
  BOOST_TEST(error_of(with(raw, 259, {0x6d, 0x88})) ==
             where +
                 "the compression of a TIFF file must be none, CCITT, LZW, JPEG, Deflate, PackBits or ZSTD; got "
                 "34925");  // LZMA
  BOOST_TEST(error_of(with(picture_file("tiff gray"), 258, {32})) ==
             where +
                 "channels of a TIFF file must be unsigned integers of 1, 2, 4, 8 or 16 bits; got unsigned "
                 "integers of 32 bits");
  BOOST_TEST(error_of(raw, {.max_pixels = 142}) == where + "must have 1 to 142 pixels; got 13 x 11");
  BOOST_TEST(error_of(with(tiles, 322, {0, 0, 1, 0})).starts_with(where), error_of(with(tiles, 322, {0, 0, 1, 0})));
  for (const char* name : {"tiff raw", "tiff tiff_lzw", "tiff tiff_adobe_deflate", "tiff jpeg", "tiff planes"}) {
    const detail::Bytes whole = picture_file(name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const detail::Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      try {
        decode_image(part, name);
      } catch (const FileError& error) {
        BOOST_TEST(std::string(error.what()).find("4294967295") == std::string::npos, error.what());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(webp_files_that_are_refused) {
  const detail::Bytes lossy = picture_file("webp lossy"), moving = picture_file("webp animated");
  const std::string where = "[decode_image] \"x\": not a whole WebP file: ";
  BOOST_TEST(error_of({lossy.begin(), lossy.end() - 10}) == where + "the file is truncated");
  BOOST_TEST(error_of({moving.begin(), moving.begin() + 60}).starts_with(where));
  BOOST_TEST(error_of(lossy, {.max_pixels = 142}) == "[decode_image] \"x\": must have 1 to 142 pixels; got 13 x 11");
}

BOOST_AUTO_TEST_SUITE_END()
