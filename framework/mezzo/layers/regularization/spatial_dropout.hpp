#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/layers/regularization/noise.hpp>

namespace mezzo {

/// Options of SpatialDropout1D, SpatialDropout2D and SpatialDropout3D.
struct SpatialDropoutOptions {
  double rate = -1;                     ///< required; probability of a channel to be dropped, in [0, 1)
  std::optional<std::uint64_t> seed{};  ///< seed of the choice; default: seed_everything() and the layer's place
  std::string name{};  ///< name of the layer; "": automatic ("spatial_dropout1d", "spatial_dropout1d_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

namespace detail {
/// Base of the layers that drop whole channels of each sample, as Dropout drops elements (Tompson et al., 2014).
class MEZZO_API SpatialDropout : public Noise {
 protected:
  SpatialDropout(const char* kind, std::size_t rank, const SpatialDropoutOptions& options);

  /// A ShapeError for an input of another rank.
  std::function<Value(const Value&)> noise(const Shape& input) const override;
  const char* name_in_lists() const override;

 private:
  std::size_t rank_;
  double rate_;
};
}  // namespace detail

/// SpatialDropout of (batch, steps, channels), channels last.
class MEZZO_API SpatialDropout1D : public detail::SpatialDropout {
 public:
  /// A ValueError for a rate outside [0, 1).
  explicit SpatialDropout1D(const SpatialDropoutOptions& options = {})
      : detail::SpatialDropout("SpatialDropout1D", 3, options) {}

  /// Positional: `SpatialDropout1D(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit SpatialDropout1D(N rate, const SpatialDropoutOptions& options = {})
      : SpatialDropout1D(detail::positional("SpatialDropout1D", options.name, "rate", &SpatialDropoutOptions::rate,
                                            static_cast<double>(rate), options)) {}
};

/// SpatialDropout of (batch, height, width, channels), channels last.
class MEZZO_API SpatialDropout2D : public detail::SpatialDropout {
 public:
  /// A ValueError for a rate outside [0, 1).
  explicit SpatialDropout2D(const SpatialDropoutOptions& options = {})
      : detail::SpatialDropout("SpatialDropout2D", 4, options) {}

  /// Positional: `SpatialDropout2D(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit SpatialDropout2D(N rate, const SpatialDropoutOptions& options = {})
      : SpatialDropout2D(detail::positional("SpatialDropout2D", options.name, "rate", &SpatialDropoutOptions::rate,
                                            static_cast<double>(rate), options)) {}
};

/// SpatialDropout of (batch, depth, height, width, channels), channels last.
class MEZZO_API SpatialDropout3D : public detail::SpatialDropout {
 public:
  /// A ValueError for a rate outside [0, 1).
  explicit SpatialDropout3D(const SpatialDropoutOptions& options = {})
      : detail::SpatialDropout("SpatialDropout3D", 5, options) {}

  /// Positional: `SpatialDropout3D(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit SpatialDropout3D(N rate, const SpatialDropoutOptions& options = {})
      : SpatialDropout3D(detail::positional("SpatialDropout3D", options.name, "rate", &SpatialDropoutOptions::rate,
                                            static_cast<double>(rate), options)) {}
};

}  // namespace mezzo
