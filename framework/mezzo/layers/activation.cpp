#include <mezzo/layers/activation.hpp>

namespace mezzo {

Any<Layer> Layer::of_activation(Activation activation) {
  return layers::Activation({.activation = std::move(activation)});
}

}  // namespace mezzo
