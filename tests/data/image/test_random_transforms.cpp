#include <boost/test/unit_test.hpp>

#include <map>

#include <mezzo/data/image/random.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using image::SampleKey;
using mezzo_tests::check_throws;

namespace {

// Returns a picture whose pixel (y, x) has the two channels y and x.
Tensor places(std::int64_t height, std::int64_t width) {
  Tensor out({height, width, 2}, DType::uint8);
  auto* at = out.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < height * width; ++i) {
    *at++ = static_cast<std::uint8_t>(i / width);
    *at++ = static_cast<std::uint8_t>(i % width);
  }
  return out;
}

bool is_flipped(const SampleKey& key, double probability) {
  const Tensor image = places(1, 2);
  return !image::random_horizontal_flip(image, {.probability = probability}, key).equal(image);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_transforms)

BOOST_AUTO_TEST_CASE(every_place_is_drawn_about_equally_often) {
  constexpr int draws = 1200;
  std::map<std::pair<int, int>, int> counts;
  for (int i = 0; i < draws; ++i) {
    const Tensor part = image::random_crop(places(4, 6), {.height = 2, .width = 3}, {.index = i});
    BOOST_TEST_REQUIRE(part.shape() == (Shape{2, 3, 2}), boost::test_tools::per_element());
    const auto* corner = part.data<std::uint8_t>();
    const Tensor expected = image::crop(places(4, 6), {.top = corner[0], .left = corner[1], .height = 2, .width = 3});
    BOOST_TEST(part.equal(expected));
    ++counts[{corner[0], corner[1]}];
  }
  BOOST_TEST(counts.size() == 12U);
  for (const auto& [place, count] : counts) BOOST_TEST((count > 60 && count < 140), count);
}

BOOST_AUTO_TEST_CASE(flips_have_their_probability) {
  int flipped = 0;
  for (int i = 0; i < 1000; ++i) {
    flipped += is_flipped({.seed = 7, .epoch = i % 3, .index = i}, 0.25);
    BOOST_TEST(!is_flipped({.index = i}, 0));
    BOOST_TEST(is_flipped({.index = i}, 1));
  }
  BOOST_TEST((flipped > 190 && flipped < 310), flipped);
}

BOOST_AUTO_TEST_CASE(seed_epoch_and_index_decide) {
  const auto drawn = [](const SampleKey& key) {
    return image::random_resized_crop(places(100, 120), {.height = 8, .width = 8}, key);
  };
  const Tensor one = drawn({.seed = 1, .epoch = 2, .index = 3});
  BOOST_TEST(drawn({.seed = 1, .epoch = 2, .index = 3}).equal(one));
  BOOST_TEST(!drawn({.seed = 2, .epoch = 2, .index = 3}).equal(one));
  BOOST_TEST(!drawn({.seed = 1, .epoch = 3, .index = 3}).equal(one));
  BOOST_TEST(!drawn({.seed = 1, .epoch = 2, .index = 4}).equal(one));
}

BOOST_AUTO_TEST_CASE(parts_have_random_area_and_ratio_within_bounds) {
  // The values of the first and last pixel give the part's place and size.
  double least = 1;
  double most = 0;
  for (int i = 0; i < 300; ++i) {
    const Tensor part = image::random_resized_crop(places(200, 200), {.height = 40, .width = 40}, {.index = i});
    const auto* pixels = part.data<std::uint8_t>();
    const auto* last = pixels + part.size() - 2;
    const double height = (last[0] - pixels[0]) * 40.0 / 39;
    const double width = (last[1] - pixels[1]) * 40.0 / 39;
    const double scale = height * width / 40000;
    BOOST_TEST((scale > 0.06 && scale < 1.05), scale);
    BOOST_TEST((width / height > 0.70 && width / height < 1.42), width / height);
    least = std::min(least, scale);
    most = std::max(most, scale);
  }
  BOOST_TEST(least < 0.15);
  BOOST_TEST(most > 0.8);
}

BOOST_AUTO_TEST_CASE(where_no_part_fits_it_is_the_largest_in_the_middle) {
  const image::RandomResizedCropOptions options{
      .height = 4, .width = 4, .min_scale = 1, .max_scale = 1, .min_ratio = 1, .max_ratio = 1};
  const Tensor wide = image::random_resized_crop(places(4, 20), options, {});
  BOOST_TEST(wide.equal(image::crop(places(4, 20), {.left = 8, .height = 4, .width = 4})));
  const Tensor high = image::random_resized_crop(places(20, 4), options, {});
  BOOST_TEST(high.equal(image::crop(places(20, 4), {.top = 8, .height = 4, .width = 4})));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  const Tensor image = places(4, 4);
  check_throws<ValueError>(
      "[random_crop] height and width must be 1 or more and fit in an image of shape (4, 4, 2); got 5 and 1",
      [&] { image::random_crop(image, {.height = 5, .width = 1}, {}); });
  check_throws<ValueError>("[random_horizontal_flip] probability must lie in [0, 1]; got 1.5",
                           [&] { image::random_horizontal_flip(image, {.probability = 1.5}, {}); });
  check_throws<ValueError>(
      "[random_resized_crop] min_scale and max_scale must be above 0 and in order, at most 1; got 0.5 and 2",
      [&] { image::random_resized_crop(image, {.height = 1, .width = 1, .min_scale = 0.5, .max_scale = 2}, {}); });
  check_throws<ValueError>(
      "[random_resized_crop] min_ratio and max_ratio must be above 0 and in order; got 3 and 2",
      [&] { image::random_resized_crop(image, {.height = 1, .width = 1, .min_ratio = 3, .max_ratio = 2}, {}); });
}

BOOST_AUTO_TEST_SUITE_END()
