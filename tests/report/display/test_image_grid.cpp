#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/data/image/decode.hpp>
#include <mezzo/report/display/image_grid.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

using Numbers = std::vector<double>;

Tensor gray(const Shape& shape, std::uint8_t first) {
  Tensor out(shape, DType::uint8);
  for (std::int64_t i = 0; i < out.size(); ++i) {
    out.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(first + i);
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_grid)

BOOST_AUTO_TEST_CASE(images_lie_side_by_side_on_white) {
  const ImageGrid grid(gray({3, 1, 2, 1}, 1), {.columns = 2, .gap = 1});
  const Tensor pixels = grid.pixels();
  BOOST_TEST(pixels.describe() == "uint8 (3, 5, 1)");
  BOOST_TEST(pixels.to_doubles() == (Numbers{1, 2, 255, 3, 4, 255, 255, 255, 255, 255, 5, 6, 255, 255, 255}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(pixels_grow_by_the_scale) {
  const Tensor pixels = ImageGrid(gray({1, 1, 2, 3}, 1), {.scale = 2}).pixels();
  BOOST_TEST(pixels.describe() == "uint8 (2, 4, 3)");
  const Numbers row{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6};
  BOOST_TEST(pixels.reshape({2, 12}).slice(0, 1).to_doubles() == row, boost::test_tools::per_element());
  BOOST_TEST(pixels.reshape({2, 12}).slice(1, 2).to_doubles() == row, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(axes_may_be_left_out) {
  BOOST_TEST(ImageGrid(gray({2, 4, 5}, 0)).pixels().describe() == "uint8 (4, 14, 1)");
  BOOST_TEST(ImageGrid(gray({4, 5, 3}, 0)).pixels().equal(gray({4, 5, 3}, 0)));
}

BOOST_AUTO_TEST_CASE(floats_go_from_black_to_white) {
  const Tensor floats({1, 1, 6}, std::vector<float>{0, 1, 0.5F, -3, HUGE_VALF, std::nanf("")});
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    BOOST_TEST(ImageGrid(floats.cast(dtype)).pixels().to_doubles() == (Numbers{0, 255, 128, 0, 255, 0}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(the_png_file_has_these_pixels) {
  const ImageGrid grid(gray({5, 6, 7, 3}, 9), {.columns = 3, .scale = 2});
  BOOST_TEST(image::decode_image(grid.png(), "grid").equal(grid.pixels()));
}

BOOST_AUTO_TEST_CASE(a_notebook_gets_png_and_text_and_captions_as_svg) {
  const MimeBundle plain = ImageGrid(gray({2, 4, 5}, 0)).mime();
  BOOST_TEST(plain.size() == 2U);
  BOOST_TEST(plain.at("text/plain") == "2 images of 4 x 5 x 1");
  BOOST_TEST(plain.at("image/png").substr(0, 11) == "iVBORw0KGgo");  // base64 of the first bytes of a PNG file
  BOOST_TEST(plain.at("image/png").size() % 4 == 0U);

  const ImageGrid grid(gray({2, 4, 5}, 0), {.columns = 1, .captions = {"a cat", "<dog> & \"co\""}});
  const MimeBundle named = grid.mime();
  BOOST_TEST(named.at("text/plain") == "2 images of 4 x 5 x 1: a cat, <dog> & \"co\"");
  const std::string& svg = named.at("image/svg+xml");
  BOOST_TEST(svg == grid.svg());
  BOOST_TEST(svg.find("width=\"5\" height=\"44\"") != std::string::npos);
  BOOST_TEST(svg.find(">a cat</text>") != std::string::npos);
  BOOST_TEST(svg.find(">&lt;dog&gt; &amp; &quot;co&quot;</text>") != std::string::npos);
  BOOST_TEST(svg.find("<image x=\"0\" y=\"24\" width=\"5\" height=\"4\" xlink:href=\"data:image/png;base64,iVBOR") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  const auto shape = [](const Shape& s) {
    check_throws<ShapeError>(
        "[ImageGrid] images must be (count, height, width, 1 or 3) or (count, height, width), none of them 0; got "
        "shape " +
            to_string(s),
        [&] { ImageGrid(Tensor(s, DType::uint8)); });
  };
  shape({2, 3});
  shape({2, 3, 3, 2});
  shape({0, 3, 3});
  check_throws<DTypeError>("[ImageGrid] images must be uint8 or floats; got int64 (1, 2, 2)", [] {
    ImageGrid(Tensor({1, 2, 2}, DType::int64));
  });
  check_throws<ValueError>("[ImageGrid] columns and scale must be at least 1 and gap at least 0; got 0, 1, 4", [] {
    ImageGrid(Tensor({1, 2, 2}), {.columns = 0});
  });
  check_throws<ValueError>("[ImageGrid] captions must be as many as the images, 2; got 1", [] {
    ImageGrid(Tensor({2, 2, 2}), {.captions = {"a"}});
  });
  check_throws<ValueError>(
      "[ImageGrid] the picture must have at most 67108864 pixels; got 1 images of 2 x 2 at scale 1000000000", [] {
        ImageGrid(Tensor({1, 2, 2}), {.scale = 1'000'000'000});
      });
}

BOOST_AUTO_TEST_SUITE_END()
