#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/images/image_augmentation.hpp>

namespace mezzo {

struct RandomHueOptions {
  detail::Factor factor{};                 ///< required; share of half a turn, in [0, 1]; one number f is {0, f}
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                      ///< name of the layer; "": automatic ("random_hue", "random_hue_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Turns the hue of images of three channels by factor * 180 degrees, one way or the other.
class MEZZO_API RandomHue : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomHue(const RandomHueOptions& options);

  /// Positional: `RandomHue(0.2)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomHue(N factor, const RandomHueOptions& options = {})
      : RandomHue(detail::positional("RandomHue", options.name, "factor", &RandomHueOptions::factor,
                                     detail::Factor(factor), options)) {}
};

struct RandomSaturationOptions {
  detail::Factor factor{};                 ///< required; in [-1, 1], 0.5: no change, 0: gray; one number f is {-f, f}
  detail::Factor value_range{0.0, 255.0};  ///< least and largest saturation
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};  ///< name of the layer; "": automatic ("random_saturation", "random_saturation_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Multiplies the saturation of images of three channels by factor / (1 - factor) and cuts it to value_range, as Keras
/// does: factors below 0 make images gray, and saturations above 1 make colors beyond those of the input.
class MEZZO_API RandomSaturation : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomSaturation(const RandomSaturationOptions& options);

  /// Positional: `RandomSaturation(0.6)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomSaturation(N factor, const RandomSaturationOptions& options = {})
      : RandomSaturation(detail::positional("RandomSaturation", options.name, "factor",
                                            &RandomSaturationOptions::factor, detail::Factor(factor), options)) {}
};

struct RandomColorDegenerationOptions {
  detail::Factor factor{};                 ///< required; in [-1, 1]; 1: gray; one number f is {-f, f}
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images, which results are cut to
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string
      name{};      ///< name of the layer; "": automatic ("random_color_degeneration", "random_color_degeneration_1")
  Policy dtype{};  ///< precision policy; default: the policy of the enclosing layer or model
};

/// Moves the colors of images of three channels by a share towards gray.
class MEZZO_API RandomColorDegeneration : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomColorDegeneration(const RandomColorDegenerationOptions& options);

  /// Positional: `RandomColorDegeneration(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomColorDegeneration(N factor, const RandomColorDegenerationOptions& options = {})
      : RandomColorDegeneration(detail::positional("RandomColorDegeneration", options.name, "factor",
                                                   &RandomColorDegenerationOptions::factor, detail::Factor(factor),
                                                   options)) {}
};

struct RandomSharpnessOptions {
  detail::Factor factor{};  ///< required; in [0, 1]; 0: smoothed, 0.5: no change, 1: sharpened; one number f is {0, f}
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images, which results are cut to
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};  ///< name of the layer; "": automatic ("random_sharpness", "random_sharpness_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// x + (1 - 2 factor) (smoothed - x), smoothed by a filter of 3 x 3 pixels.
class MEZZO_API RandomSharpness : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomSharpness(const RandomSharpnessOptions& options);

  /// Positional: `RandomSharpness(0.8)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomSharpness(N factor, const RandomSharpnessOptions& options = {})
      : RandomSharpness(detail::positional("RandomSharpness", options.name, "factor", &RandomSharpnessOptions::factor,
                                           detail::Factor(factor), options)) {}
};

struct RandomGrayscaleOptions {
  double factor = 0.5;                  ///< share of the images, in [0, 1]
  std::optional<std::uint64_t> seed{};  ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                   ///< name of the layer; "": automatic ("random_grayscale", "random_grayscale_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
};

/// Makes some of the images gray: 0.2989 r + 0.5870 g + 0.1140 b in all of their three channels. Images of one channel
/// stay as they are.
class MEZZO_API RandomGrayscale : public detail::ImageAugmentation {
 public:
  /// A ValueError for a factor out of range.
  explicit RandomGrayscale(const RandomGrayscaleOptions& options = {});

  /// Positional: `RandomGrayscale(0.2)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomGrayscale(N factor, const RandomGrayscaleOptions& options = {})
      : RandomGrayscale(detail::positional("RandomGrayscale", options.name, "factor", &RandomGrayscaleOptions::factor,
                                           static_cast<double>(factor), options)) {}
};

struct RandomInvertOptions {
  detail::Factor factor{1.0};              ///< share of the images, in [0, 1]; one number f is {0, f}
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                      ///< name of the layer; "": automatic ("random_invert", "random_invert_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// value_range[1] - x for some of the images: a share is drawn from the bounds for each image.
class MEZZO_API RandomInvert : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomInvert(const RandomInvertOptions& options = {});

  /// Positional: `RandomInvert(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomInvert(N factor, const RandomInvertOptions& options = {})
      : RandomInvert(detail::positional("RandomInvert", options.name, "factor", &RandomInvertOptions::factor,
                                        detail::Factor(factor), options)) {}
};

struct RandomPosterizationOptions {
  detail::Factor
      factor{};  ///< required; bits, whole numbers in [1, 8]; one number n is {1, n}; below the second unless equal
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};  ///< name of the layer; "": automatic ("random_posterization", "random_posterization_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Keeps some bits of the 8 bits of each number.
class MEZZO_API RandomPosterization : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range or with a fraction.
  explicit RandomPosterization(const RandomPosterizationOptions& options);

  /// Positional: `RandomPosterization(4)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomPosterization(N factor, const RandomPosterizationOptions& options = {})
      : RandomPosterization(detail::positional("RandomPosterization", options.name, "factor",
                                               &RandomPosterizationOptions::factor, detail::Factor(factor), options)) {}
};

struct RandomColorJitterOptions {
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images
  detail::Factor brightness_factor{};      ///< as in RandomBrightness; default: no such change
  detail::Factor contrast_factor{};        ///< as in RandomContrast; default: no such change
  detail::Factor saturation_factor{};      ///< as in RandomSaturation; default: no such change
  detail::Factor hue_factor{};             ///< as in RandomHue; default: no such change
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};  ///< name of the layer; "": automatic ("random_color_jitter", "random_color_jitter_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Changes brightness, contrast, saturation and hue, in this order: the layers RandomBrightness, RandomContrast,
/// RandomSaturation and RandomHue.
class MEZZO_API RandomColorJitter : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomColorJitter(const RandomColorJitterOptions& options = {});
};

}  // namespace mezzo
