#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/position_layer.hpp>

namespace mezzo {

struct SinePositionEncodingOptions {
  double max_wavelength = 10000;  ///< base of the wavelengths, above 0
  std::string name{};  ///< name of the layer; "": automatic ("sine_position_encoding", "sine_position_encoding_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Sines (even features) and cosines (odd ones) of position * max_wavelength^(-2 floor(i / 2) / features), of the shape
/// of the input, (..., steps, features), to be added to it (Vaswani et al., 2017). As keras_hub's layer of this name.
class MEZZO_API SinePositionEncoding : public detail::PositionLayer {
 public:
  /// A ValueError unless max_wavelength is above 0.
  explicit SinePositionEncoding(SinePositionEncodingOptions options = {});

  /// Positional: `SinePositionEncoding(10000)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit SinePositionEncoding(N max_wavelength, SinePositionEncodingOptions options = {})
      : SinePositionEncoding(detail::positional("SinePositionEncoding", options.name, "max_wavelength",
                                                &SinePositionEncodingOptions::max_wavelength,
                                                static_cast<double>(max_wavelength), options)) {}
  void build(const Shape&) override {}

 protected:
  /// A ShapeError for an input of fewer than two axes, or positions of another length.
  Value call_at(const Value& x, const Value& positions, std::int64_t start_index) override;

 private:
  SinePositionEncodingOptions options_;
};

}  // namespace mezzo
