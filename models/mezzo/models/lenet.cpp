#include <mezzo/models/lenet.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

constexpr std::int64_t image_size = 28;

LeNetOptions checked(const std::string& where, LeNetOptions options) {
  detail::require_positive(where, "classes", options.classes);
  return options;
}

Conv2D convolution(std::int64_t filters, const detail::Padding& padding = "valid") {
  return Conv2D({.filters = filters, .kernel_size = 5, .padding = padding, .activation = "tanh"});
}

}  // namespace

LeNet::LeNet(LeNetOptions options)
    : Model("LeNet", options),
      options_(checked(label(), std::move(options))),
      rescaling_(sub("rescaling", Rescaling({.scale = options_.scale}))),
      conv1_(sub("conv1", convolution(6, 2))),
      conv2_(sub("conv2", convolution(16))),
      conv3_(sub("conv3", convolution(120))),
      pool_(sub("pool", AveragePooling2D())),
      flatten_(sub("flatten", Flatten())),
      fc1_(sub("fc1", Dense({.units = 84, .activation = "tanh"}))),
      fc2_(sub("fc2", Dense({.units = options_.classes}))) {}

Value LeNet::call(const Value& x) {
  const Shape& shape = x.shape();
  detail::require_rank(label(), shape, 4, "(batch, height, width, channels)");
  if (shape[1] != image_size || shape[2] != image_size) {
    fail<ShapeError>(label(), "images must be {} x {}; got shape {}", image_size, image_size, shape);
  }
  const Value maps = pool_(conv2_(pool_(conv1_(rescaling_(x)))));
  return fc2_(fc1_(flatten_(conv3_(maps))));
}

}  // namespace mezzo
