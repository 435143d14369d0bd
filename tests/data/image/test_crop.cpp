#include <boost/test/unit_test.hpp>

#include <limits>
#include <numeric>

#include <mezzo/data/image/crop.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

// Returns a picture whose element i is i.
Tensor counted(std::int64_t height, std::int64_t width, std::int64_t channels) {
  std::vector<std::uint8_t> elements(static_cast<std::size_t>(height * width * channels));
  std::iota(elements.begin(), elements.end(), std::uint8_t{0});
  return Tensor({height, width, channels}, elements);
}

void check(const Tensor& tensor, const Shape& shape, const std::vector<std::uint8_t>& elements) {
  BOOST_TEST(tensor.equal(Tensor(shape, elements)), tensor.describe() << " differs");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(crop)

BOOST_AUTO_TEST_CASE(a_part_is_copied) {
  check(image::crop(counted(3, 4, 1), {.top = 1, .left = 2, .height = 2, .width = 2}), {2, 2, 1}, {6, 7, 10, 11});
  check(image::crop(counted(2, 2, 2), {.top = 0, .left = 1, .height = 2, .width = 1}), {2, 1, 2}, {2, 3, 6, 7});
}

BOOST_AUTO_TEST_CASE(the_middle_is_that_of_torchvision) {
  // Borders of 1 and 3 pixels: round(0.5) is 0, round(1.5) is 2.
  check(image::center_crop(counted(3, 5, 1), {.height = 2, .width = 2}), {2, 2, 1}, {2, 3, 7, 8});
  check(image::center_crop(counted(4, 4, 1), {.height = 2, .width = 2}), {2, 2, 1}, {5, 6, 9, 10});
  check(image::center_crop(counted(2, 2, 1), {.height = 2, .width = 2}), {2, 2, 1}, {0, 1, 2, 3});
}

BOOST_AUTO_TEST_CASE(a_flip_exchanges_left_and_right) {
  check(image::horizontal_flip(counted(2, 3, 2)), {2, 3, 2}, {4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7});
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  check_throws<ValueError>(
      "[crop] the part must lie in the image of shape (3, 4, 1); got top 1, left 0, height 3, width 2",
      [] { image::crop(counted(3, 4, 1), {.top = 1, .height = 3, .width = 2}); });
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  BOOST_CHECK_THROW(image::crop(counted(3, 4, 1), {.top = 1, .height = huge, .width = 1}), ValueError);
  BOOST_CHECK_THROW(image::crop(counted(3, 4, 1), {.left = -1, .height = 1, .width = 1}), ValueError);
  BOOST_CHECK_THROW(image::crop(counted(3, 4, 1), {.height = 0, .width = 1}), ValueError);
  check_throws<ValueError>(
      "[center_crop] height and width must be 1 or more and fit in an image of shape (3, 4, 1); got 4 and 1",
      [] { image::center_crop(counted(3, 4, 1), {.height = 4, .width = 1}); });
  check_throws<DTypeError>("[horizontal_flip] an image must be uint8; got float32 (1, 1, 1)", [] {
    image::horizontal_flip(Tensor({1, 1, 1}));
  });
}

BOOST_AUTO_TEST_SUITE_END()
