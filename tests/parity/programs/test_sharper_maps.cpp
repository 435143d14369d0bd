// Upscales pictures of contour lines by a network whose last channels are the pixels of blocks: see sharper_maps.py.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Lines of equal height on wavy slopes, (count, height, width, 1): 1 on a line, near 0 between two.
Tensor contours(std::uint32_t stream, std::int64_t count, std::int64_t height, std::int64_t width) {
  const Value slope = uniform_numbers(stream, {count, 1, 1}, 2, 3);
  const Value wave = uniform_numbers(stream + 1, {count, 1, 1}, 0.5, 1.5);
  const Value shift = uniform_numbers(stream + 2, {count, 1, 1}, 0, 6);
  const Value down = arange(height).reshape({-1, 1}) / 8, right = arange(width) / 8;
  const Value ground = slope * down + wave * sin(shift + 2 * right);
  return exp(-4 * square(sin(ground)))(ellipsis, newaxis);
}

// docs: begin
// Lays side * side channels out as a square of pixels.
class PixelsOfBlocks : public Layer {
 public:
  explicit PixelsOfBlocks(std::int64_t side) : Layer("PixelsOfBlocks"), side_(side) {}

 protected:
  Value call(const Value& x) override {
    const Value rows = shape(x)[1], columns = shape(x)[2];
    const Value lines = transpose(reshape(x, {-1, rows, columns, side_, side_}), {0, 1, 3, 2, 4});
    return reshape(lines, {-1, rows * side_, columns * side_, 1});
  }

 private:
  std::int64_t side_;
};

Model upscaler(std::int64_t side) {
  const Input small({-1, -1, 1});
  Value features = layers::Conv2D(8, {.kernel_size = 5, .padding = "same", .activation = "tanh"})(small);
  features = layers::Conv2D(6, {.kernel_size = 3, .padding = "same", .activation = "relu"})(features);
  // The network learns how the pixels of a block differ from the small pixel.
  const Value change = layers::Conv2D(side * side, {.kernel_size = 3, .padding = "same"})(features);
  return Model(small, PixelsOfBlocks(side)(layers::Add()({small, change})));
}
// docs: end

// docs: begin
// PSNR of the validation in each epoch, for pixels up to 1, and the brightest pixel of an upscaled picture.
class Decibels : public Callback {
 public:
  explicit Decibels(Tensor picture) : picture_(std::move(picture)) {}

  void on_epoch_begin(int, Logs&) override { of_batches_.clear(); }

  void on_test_batch_end(std::int64_t, Logs& logs) override { of_batches_.push_back(-10 * std::log10(logs["loss"])); }

  void on_epoch_end(int, Logs&) override {
    psnr.push_back(std::reduce(of_batches_.begin(), of_batches_.end()) / static_cast<double>(of_batches_.size()));
    brightest.push_back(max(model().predict(picture_)).item());
  }

  std::vector<double> psnr, brightest;

 private:
  Tensor picture_;
  std::vector<double> of_batches_;
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(sharper_maps)

BOOST_AUTO_TEST_CASE(losses_and_decibels_equal_keras) {
  nlohmann::json expected = program("sharper_maps");
  const Tensor sharp = contours(20, 32, 16, 16), unseen = contours(30, 10, 16, 16), wide = contours(40, 2, 12, 24);
  Model model = upscaler(2);
  initialize(model, expected["shapes"]);
  // docs: begin
  const auto halved = [](const Value& maps) -> Tensor {
    return image::resize(maps, {maps.shape()[1] / 2, maps.shape()[2] / 2},
                         {.interpolation = "bilinear", .antialias = true});
  };
  const Tensor small = halved(sharp), small_unseen = halved(unseen), small_wide = halved(wide);
  Decibels decibels(small_wide);
  EarlyStopping patience({.monitor = "loss", .min_delta = 0.006, .patience = 2});
  model.compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = losses::MeanSquaredError()});
  const History history = model.fit(small, sharp,
                                    {.batch_size = 8,
                                     .epochs = 20,
                                     .verbose = 0,
                                     .callbacks = {decibels, patience},
                                     .validation_data = {small_unseen, unseen},
                                     .shuffle = false,
                                     .validation_batch_size = 4});
  const Tensor upscaled = model.predict(small_wide);
  // docs: end
  check_history(history, expected["history"]);
  check_numbers("psnr", decibels.psnr, expected["psnr"]);
  check_numbers("brightest", decibels.brightest, expected["brightest"]);
  check_numbers("small", mean(small_wide, {.axes = {0, 2, 3}}).tensor().to_doubles(), expected["small"]);
  check_numbers("upscaled", mean(upscaled, {.axes = {0, 2, 3}}).tensor().to_doubles(), expected["upscaled"]);
}

BOOST_AUTO_TEST_SUITE_END()
