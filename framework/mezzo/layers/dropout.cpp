#include <mezzo/layers/dropout.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {

Dropout::Dropout(DropoutOptions options) : Layer("Dropout", options), options_(std::move(options)) {
  if (!(options_.rate >= 0 && options_.rate < 1)) {
    fail<ValueError>(label(), "rate must lie in [0, 1); got {}", options_.rate);
  }
}

}  // namespace mezzo
