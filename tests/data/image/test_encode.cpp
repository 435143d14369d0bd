#include <boost/test/unit_test.hpp>

#include <mezzo/data/image/decode.hpp>
#include <mezzo/data/image/encode.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using image::encode_png;
using mezzo_tests::check_throws;

namespace {

Tensor waves(const Shape& shape) {
  Tensor out(shape, DType::uint8);
  auto* at = out.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < out.size(); ++i) at[i] = static_cast<std::uint8_t>(i * i + 7 * i);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(encode)

BOOST_AUTO_TEST_CASE(colors_come_back_as_they_were) {
  for (const Shape& shape : {Shape{1, 1, 3}, Shape{3, 5, 3}, Shape{64, 33, 3}}) {
    const Tensor picture = waves(shape);
    BOOST_TEST(image::decode_image(encode_png(picture), "x").equal(picture));
  }
}

BOOST_AUTO_TEST_CASE(gray_is_stored_as_one_channel) {
  const Tensor picture = waves({7, 5, 1});
  const detail::Bytes file = encode_png(picture);
  BOOST_TEST(int{file.at(24)} == 8);  // IHDR's bit depth
  BOOST_TEST(int{file.at(25)} == 0);  // and color type: gray
  const std::vector<double> gray = picture.to_doubles();
  const std::vector<double> colors = image::decode_image(file, "x").to_doubles();
  BOOST_TEST_REQUIRE(colors.size() == 3 * gray.size());
  for (std::size_t i = 0; i < colors.size(); ++i) BOOST_TEST(colors[i] == gray[i / 3]);
}

BOOST_AUTO_TEST_CASE(what_is_no_picture_is_refused) {
  check_throws<DTypeError>("[encode_png] an image must be uint8; got float32 (2, 2, 3)", [] {
    encode_png(Tensor({2, 2, 3}));
  });
  check_throws<ShapeError>(
      "[encode_png] an image must have shape (height, width, channels), none of them 0; got shape (2, 2)", [] {
        encode_png(Tensor({2, 2}, DType::uint8));
      });
  check_throws<ShapeError>("[encode_png] an image must have 1 or 3 channels; got shape (2, 2, 4)", [] {
    encode_png(Tensor({2, 2, 4}, DType::uint8));
  });
}

BOOST_AUTO_TEST_SUITE_END()
