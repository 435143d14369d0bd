#include <boost/test/unit_test.hpp>

#include <mezzo/data/image/resize.hpp>

#include "support/recorded.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::recorded;

namespace {

Tensor picture() {
  const auto& file = recorded("image");
  return Tensor(file.at("shape").get<Shape>(), file.at("image").get<std::vector<std::uint8_t>>());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resize)

BOOST_AUTO_TEST_CASE(pixels_are_those_of_pillow) {
  const auto& cases = recorded("image").at("resize");
  BOOST_TEST_REQUIRE(cases.size() >= 20U);
  for (const auto& one : cases) {
    const image::ResizeOptions options{.height = one.at("height").get<std::int64_t>(),
                                       .width = one.at("width").get<std::int64_t>(),
                                       .interpolation = one.at("interpolation").get<std::string>()};
    BOOST_TEST_CONTEXT(options.height << " x " << options.width << " " << options.interpolation) {
      const Tensor resized = image::resize(picture(), options);
      BOOST_TEST(resized.shape() == (Shape{options.height, options.width, 3}), boost::test_tools::per_element());
      BOOST_TEST(resized.to_doubles() == one.at("pixels").get<std::vector<double>>(), boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(channels_are_resized_each_alone) {
  const Tensor gray({2, 2, 1}, std::vector<std::uint8_t>{0, 100, 200, 255});
  BOOST_TEST(image::resize(gray, {.height = 1, .width = 1}).item() == 139);  // (50 + 228) / 2, each rounded
}

BOOST_AUTO_TEST_CASE(the_shorter_side_gets_the_size) {
  const auto shape = [](std::int64_t height, std::int64_t width) {
    return to_string(image::resize_shorter_side(Tensor({height, width, 3}, DType::uint8), 8).shape());
  };
  BOOST_TEST(shape(16, 21) == "(8, 10, 3)");
  BOOST_TEST(shape(21, 16) == "(10, 8, 3)");
  BOOST_TEST(shape(4, 4) == "(8, 8, 3)");
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  check_throws<DTypeError>("[resize] an image must be uint8; got float32 (2, 2, 3)", [] {
    image::resize(Tensor({2, 2, 3}), {.height = 1, .width = 1});
  });
  check_throws<ShapeError>(
      "[resize] an image must have shape (height, width, channels), none of them 0; got shape (2, 0, 3)", [] {
        image::resize(Tensor({2, 0, 3}, DType::uint8), {.height = 1, .width = 1});
      });
  check_throws<ValueError>("[resize] height and width must lie in [1, 1048576]; got 0 and 4",
                           [] { image::resize(picture(), {.height = 0, .width = 4}); });
  check_throws<ValueError>("[resize] unknown interpolation \"area\"; valid names: bilinear, bicubic, nearest",
                           [] { image::resize(picture(), {.height = 4, .width = 4, .interpolation = "area"}); });
}

BOOST_AUTO_TEST_SUITE_END()
