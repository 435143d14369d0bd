#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/images/image_augmentation.hpp>

namespace mezzo {

struct SolarizationOptions {
  detail::Factor addition_factor{
      0.0};  ///< share of the range of values, in [0, 1], that is added first; one number f is {0, f}
  detail::Factor threshold_factor{0.0};  ///< share of the range of values, likewise; numbers from there on are inverted
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                      ///< name of the layer; "": automatic ("solarization", "solarization_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Inverts the numbers from a threshold on. Both bounds of a factor are shares of the range, also where Keras takes the
/// lower one as a number of [0, 255].
class MEZZO_API Solarization : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit Solarization(const SolarizationOptions& options = {});

  /// Positional: `Solarization(0.1, 0.5)`.
  template <class N, class M, detail::IfNumber<N> = 0, detail::IfNumber<M> = 0>
  Solarization(N addition_factor, M threshold_factor, const SolarizationOptions& options = {})
      : Solarization(detail::positional(
            "Solarization", options.name, "threshold_factor", &SolarizationOptions::threshold_factor,
            detail::Factor(threshold_factor),
            detail::positional("Solarization", options.name, "addition_factor", &SolarizationOptions::addition_factor,
                               detail::Factor(addition_factor), options))) {}
};

struct EqualizationOptions {
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images
  std::int64_t bins = 256;                 ///< number of bins of the histogram
  std::string name{};                      ///< name of the layer; "": automatic ("equalization", "equalization_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Equalizes the histogram of each channel of an image, in training only. Keras counts the pixels of a whole batch.
class MEZZO_API Equalization : public detail::ImageAugmentation {
 public:
  /// A ValueError for a range out of order or less than 2 bins.
  explicit Equalization(const EqualizationOptions& options = {});
};

struct AutoContrastOptions {
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images
  std::string name{};                      ///< name of the layer; "": automatic ("auto_contrast", "auto_contrast_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Stretches each channel of an image to value_range, in training and in inference. A channel of one number stays.
class MEZZO_API AutoContrast : public detail::ImageAugmentation {
 public:
  /// A ValueError for a range out of order.
  explicit AutoContrast(const AutoContrastOptions& options = {});
};

}  // namespace mezzo
