#include <mezzo/layers/dropout.hpp>

namespace mezzo {

Dropout::Dropout(DropoutOptions options) : Layer("Dropout", options), options_(std::move(options)) {
  if (!(options_.rate >= 0 && options_.rate < 1)) {
    throw ValueError(label() + " rate must lie in [0, 1); got " + std::to_string(options_.rate));
  }
}

}  // namespace mezzo
