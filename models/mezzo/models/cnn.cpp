#include <mezzo/models/cnn.hpp>

namespace mezzo {

CNN::CNN(CNNOptions options)
    : Model("CNN", options),
      options_(std::move(options)),
      rescaling_(sub("rescaling", Rescaling({.scale = options_.scale}))),
      conv1_(sub("conv1", Conv2D({.filters = 32, .kernel_size = 3, .activation = "relu"}))),
      conv2_(sub("conv2", Conv2D({.filters = 64, .kernel_size = 3, .activation = "relu"}))),
      dropout_(sub("dropout", Dropout({.rate = options_.dropout}))),
      fc_(sub("fc", Dense({.units = options_.classes}))) {}

Value CNN::call(const Value& x) {
  const Value small = pool_(conv1_(rescaling_(x)));
  const Value smaller = pool_(conv2_(small));
  return fc_(dropout_(flatten_(smaller)));
}

}  // namespace mezzo
