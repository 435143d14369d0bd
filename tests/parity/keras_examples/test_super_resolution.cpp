// keras.io/examples/vision/super_resolution_sub_pixel: see super_resolution.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t crop_size = 12, upscale_factor = 3, batch_size = 8;
const std::int64_t input_size = crop_size / upscale_factor;

class DepthToSpace : public Layer {
 public:
  explicit DepthToSpace(std::int64_t block_size) : Layer("DepthToSpace"), block_size_(block_size) {}

 protected:
  Value call(const Value& input) override {
    const std::int64_t height = input.shape()[1], width = input.shape()[2];
    const std::int64_t depth = input.shape()[3] / (block_size_ * block_size_);
    Value x = reshape(input, {-1, height, width, block_size_, block_size_, depth});
    x = transpose(x, {0, 1, 3, 2, 4, 5});
    return reshape(x, {-1, height * block_size_, width * block_size_, depth});
  }

 private:
  std::int64_t block_size_;
};

// A Sequential without an Input takes images of any size.
Sequential get_model(std::int64_t factor, std::int64_t channels) {
  const Conv2DOptions conv_args{.padding = "same", .activation = "relu", .kernel_initializer = "orthogonal"};
  Sequential model({
      layers::Conv2D(16, 5, conv_args),
      layers::Conv2D(16, 3, conv_args),
      layers::Conv2D(8, 3, conv_args),
      layers::Conv2D(channels * factor * factor, 3, conv_args),
      DepthToSpace(factor),
  });
  model.build({-1, input_size, input_size, channels});
  return model;
}

// docs: begin
class ESPCNCallback : public Callback {
 public:
  explicit ESPCNCallback(Tensor test_img) : test_img_(std::move(test_img)) {}

  // Store PSNR value in each epoch.
  void on_epoch_begin(int, Logs&) override { psnr_.clear(); }

  void on_epoch_end(int epoch, Logs&) override {
    mean_psnr.push_back(mean(Tensor({2}, psnr_)).item());
    if (epoch % 2 == 0) brightness.push_back(mean(model().predict(test_img_)).item());
  }

  void on_test_batch_end(std::int64_t, Logs& logs) override { psnr_.push_back(10 * std::log10(1 / logs["loss"])); }

  std::vector<double> mean_psnr, brightness;

 private:
  Tensor test_img_;
  std::vector<double> psnr_;
};
// docs: end

Tensor process_input(const Tensor& input) {
  return image::resize(Value(input), {input_size, input_size}, {.interpolation = "bilinear", .antialias = true});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(super_resolution)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const Tensor images = pictures(32, crop_size).images;
  const Tensor train = rows(images, 0, 24), valid = rows(images, 24, 32);

  const Tensor larger = pictures(1, 8).images;  // an image of another size
  Sequential model = get_model(upscale_factor, 1);
  auto expected = example("super_resolution");
  initialize(model, expected["shapes"]);
  ESPCNCallback espcn_callback(larger);
  EarlyStopping early_stopping_callback({.monitor = "loss", .patience = 10});
  const MeanSquaredError loss_fn;
  const Adam optimizer(0.001);
  model.compile({.optimizer = optimizer, .loss = loss_fn});
  check_history(model.fit(process_input(train), train,
                          {.batch_size = batch_size,
                           .epochs = 3,
                           .verbose = 0,
                           .callbacks = {espcn_callback, early_stopping_callback},
                           .validation_data = {process_input(valid), valid},
                           .shuffle = false,
                           .validation_batch_size = 4}),
                expected["history"]);
  check_numbers("mean PSNR", espcn_callback.mean_psnr, expected["mean_psnr"]);
  check_numbers("brightness", espcn_callback.brightness, expected["brightness"]);
}

BOOST_AUTO_TEST_SUITE_END()
