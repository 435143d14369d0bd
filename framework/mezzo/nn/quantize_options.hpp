#pragma once
#include <string>

namespace mezzo {

/// Options of Layer::quantize().
struct QuantizeOptions {
  /// Regular expression (RE2 syntax) for whole paths of layers: those that match are quantized; "": all that can be.
  std::string filters{};
  /// Activations of products: "dynamic", 8 bits with a scale for each row, chosen in each call; "static", with a scale
  /// for each layer, chosen by calibrate(); "none": floats.
  std::string activations = "dynamic";
};

}  // namespace mezzo
