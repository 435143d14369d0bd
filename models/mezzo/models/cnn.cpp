#include <mezzo/models/cnn.hpp>

namespace mezzo {

CNN::CNN(CNNOptions options) : Model("CNN", options), options_(std::move(options)) {}

Value CNN::call(const Value& x) {
  const Value small = pool_(conv1_(rescaling_(x)));
  const Value smaller = pool_(conv2_(small));
  return fc_(dropout_(flatten_(smaller)));
}

}  // namespace mezzo
