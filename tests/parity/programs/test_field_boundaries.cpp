// Labels each pixel of small aerial pictures: see field_boundaries.py.
#include <boost/test/unit_test.hpp>

#include <vector>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t size_of_picture = 16;
const Tensor colors = {{0.3, 0.55, 0.25}, {0.2, 0.3, 0.15}, {0.7, 0.6, 0.35}};

// Pictures of two fields with a straight boundary, and the class of each pixel.
struct Survey {
  Survey(std::uint32_t stream, std::int64_t count) {
    const Shape one = {count, 1, 1};
    const Value north = random_integers(stream, one, 3), east = random_integers(stream + 1, one, 5);
    const Value offset = random_integers(stream + 2, one, 9);
    const Tensor place = arange(1 - size_of_picture, size_of_picture, 2);
    const Value side = (1 + north) * place(all, newaxis) + (east - 2) * place + 3 * (offset - 4);
    labels = expand_dims(clip(floor_divide(side + 12, 24), -1, 1) + 1, -1);
    const Tensor noise = normal_numbers(stream + 3, {count, size_of_picture, size_of_picture, 3});
    pictures = gather(colors, labels(ellipsis, 0)) + 0.1 * noise;
  }
  Tensor pictures, labels;
};

Value activate(const Value& pixels) {
  return layers::Activation("relu")(layers::BatchNormalization({.momentum = 0.6})(pixels));
}

// Works at half the size with width `depth`, and inside of that with the next ones; has the shape of its input.
Value level(const Value& pixels, const std::vector<int>& widths, std::size_t depth = 0) {
  if (depth == widths.size()) return pixels;
  const std::int64_t channels = pixels.shape().back();
  const Value mixed = layers::SeparableConv2D(widths[depth], 3, {.padding = "same"})(activate(pixels));
  const Value smaller = layers::MaxPooling2D(2, {.strides = 2, .padding = "same"})(mixed);
  const Value projected = layers::Conv2D(widths[depth], 1, {.strides = 2, .padding = "same"})(pixels);
  const Value inner = level(layers::add({smaller, projected}), widths, depth + 1);
  const Value spread = layers::Conv2DTranspose(channels, 3, {.padding = "same"})(activate(inner));
  const Value plain = layers::Conv2D(channels, 1, {.padding = "same"})(inner);
  return layers::add({layers::UpSampling2D(2)(spread), layers::UpSampling2D(2)(plain), pixels});
}

Model segmenter(const std::vector<int>& widths) {
  const Input picture({.shape = {size_of_picture, size_of_picture, 3}});
  const Value coarse = level(layers::Conv2D(6, 3, {.strides = 2, .padding = "same"})(picture), widths);
  const Value fine = layers::UpSampling2D(2)(activate(coarse));
  return Model(picture, layers::Conv2D(3, 3, {.padding = "same", .activation = "softmax"})(fine));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(field_boundaries)

BOOST_AUTO_TEST_CASE(training_and_masks_equal_keras) {
  auto keras = program("field_boundaries");
  Model model = segmenter({8, 12});
  initialize(model, keras["shapes"]);
  const Survey known(300, 32), fresh(320, 12);
  model.compile({.optimizer = optimizers::SGD(0.03, {.momentum = 0.8}), .loss = "sparse_categorical_crossentropy"});
  const History fitted = model.fit(known.pictures, known.labels,
                                   {.batch_size = 8,
                                    .epochs = 3,
                                    .verbose = 0,
                                    .validation_data = {fresh.pictures, fresh.labels},
                                    .shuffle = false});
  const Tensor shares = model.predict(fresh.pictures);
  const Value masks = expand_dims(argmax(shares, -1), -1);
  check_history(fitted, keras["history"]);
  check_numbers("share", shares(all, 7, 5).to_doubles(), keras["shares"]);
  check_numbers("mask", masks(3).tensor().to_doubles(), keras["mask"]);
  check_number("right", mean(equal(masks, fresh.labels)).item(), keras["right"]);
}

BOOST_AUTO_TEST_SUITE_END()
