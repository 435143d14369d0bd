#pragma once
#include <string>

namespace mezzo {

/// Options of Layer::quantize().
struct QuantizeOptions {
  /// Regular expression (RE2 syntax) for whole paths of layers, "encoder/.*|head": those that match are quantized; "":
  /// all that can be.
  std::string filters{};
  /// Inputs of products: "dynamic", 8-bit integers with a scale for each row, chosen in each call; "static", with one
  /// scale for the layer, chosen by calibrate(); "none", floats, and the weight is dequantized. Default: "dynamic" for
  /// int8, "none" for int4, as in Keras. A row with NaN or infinity gives NaN. The modes "fake_..." observe the range
  /// of "static" inputs in training, and also take "learned": the range is trained (LSQ, Esser et al., 2020) from that
  /// of calibrate() on. A layer that was trained with such a mode keeps its format of inputs by default.
  std::string activations{};
};

}  // namespace mezzo
