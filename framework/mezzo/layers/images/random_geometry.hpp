#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/images/image_augmentation.hpp>
#include <mezzo/ops/ints.hpp>

namespace mezzo {

struct RandomCropOptions {
  std::int64_t height = 0;              ///< required; size of the result, in pixels
  std::int64_t width = 0;               ///< required; size of the result, in pixels
  std::optional<std::uint64_t> seed{};  ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                   ///< name of the layer; "": automatic ("random_crop", "random_crop_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
};

/// Cuts a part of height x width pixels out of images at a random place, another one for each image. An image that is
/// not larger both ways is cut around its middle and resized (bilinear), as Keras does. In inference it is the largest
/// part in the middle with these proportions, resized, as Keras' documentation says; Keras' layer returns its input
/// there.
class MEZZO_API RandomCrop : public detail::ImageAugmentation {
 public:
  /// A ValueError for a size below 1.
  explicit RandomCrop(const RandomCropOptions& options);

  /// Positional: `RandomCrop(24, 24)`.
  template <class N, class M, detail::IfInteger<N> = 0, detail::IfInteger<M> = 0>
  RandomCrop(N height, M width, const RandomCropOptions& options = {})
      : RandomCrop(detail::positional(
            "RandomCrop", options.name, "width", &RandomCropOptions::width, static_cast<std::int64_t>(width),
            detail::positional("RandomCrop", options.name, "height", &RandomCropOptions::height,
                               static_cast<std::int64_t>(height), options))) {}
};

struct RandomErasingOptions {
  detail::Factor factor{1.0};  ///< share of the images, in [0, 1]; one number f is {0, f}
  detail::Factor scale{0.02,
                       0.33};  ///< share of the image's area, in [0, 1]; the squares of the shares of height and width
  detail::Factor
      fill_value{};  ///< value of the erased part: a number, or one for each of three channels; default: normal noise
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images, which results are cut to
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                      ///< name of the layer; "": automatic ("random_erasing", "random_erasing_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Fills a rectangle at a random place of some of the images. Noise has the deviation value_range[1]; the filling is
/// cut to value_range.
class MEZZO_API RandomErasing : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range.
  explicit RandomErasing(const RandomErasingOptions& options = {});

  /// Positional: `RandomErasing(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomErasing(N factor, const RandomErasingOptions& options = {})
      : RandomErasing(detail::positional("RandomErasing", options.name, "factor", &RandomErasingOptions::factor,
                                         detail::Factor(factor), options)) {}
};

struct RandomGaussianBlurOptions {
  detail::Factor factor{1.0};              ///< share of the images, in [0, 1]; one number f is {0, f}
  detail::Ints kernel_size{3};             ///< width and height of the filter in pixels, odd
  detail::Factor sigma{1.0};               ///< deviations in pixels, in [0, 1]; one number s is {0, s}
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images, which results are cut to
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};  ///< name of the layer; "": automatic ("random_gaussian_blur", "random_gaussian_blur_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Blurs some of the images by a Gaussian, whose deviations are drawn from the bounds. Pixels beyond the border count
/// as 0.
class MEZZO_API RandomGaussianBlur : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range or an even kernel_size.
  explicit RandomGaussianBlur(const RandomGaussianBlurOptions& options = {});

  /// Positional: `RandomGaussianBlur(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomGaussianBlur(N factor, const RandomGaussianBlurOptions& options = {})
      : RandomGaussianBlur(detail::positional("RandomGaussianBlur", options.name, "factor",
                                              &RandomGaussianBlurOptions::factor, detail::Factor(factor), options)) {}
};

struct RandomShearOptions {
  detail::Factor x_factor{0.0};            ///< pixels to the side for a pixel down, in [0, 1]; one number f is {-f, f}
  detail::Factor y_factor{0.0};            ///< pixels down for a pixel to the side, likewise
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::string fill_mode = "reflect";       ///< beyond the border: "reflect", "wrap", "constant" or "nearest"
  double fill_value = 0;                   ///< value for fill_mode "constant"
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};                      ///< name of the layer; "": automatic ("random_shear", "random_shear_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Shears images around their corner, one way or the other.
class MEZZO_API RandomShear : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range, a NameError for unknown names.
  explicit RandomShear(const RandomShearOptions& options = {});

  /// Positional: `RandomShear(0.2, 0.1)`.
  template <class N, class M, detail::IfNumber<N> = 0, detail::IfNumber<M> = 0>
  RandomShear(N x_factor, M y_factor, const RandomShearOptions& options = {})
      : RandomShear(detail::positional(
            "RandomShear", options.name, "y_factor", &RandomShearOptions::y_factor, detail::Factor(y_factor),
            detail::positional("RandomShear", options.name, "x_factor", &RandomShearOptions::x_factor,
                               detail::Factor(x_factor), options))) {}
};

struct RandomPerspectiveOptions {
  detail::Factor factor{1.0};  ///< share of the images, in [0, 1]; one number f is {0, f}
  double scale = 1;            ///< in [0, 1]; the corners move by up to half of this share of their coordinates
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  double fill_value = 0;                   ///< beyond the border
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};  ///< name of the layer; "": automatic ("random_perspective", "random_perspective_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Shows some of the images in perspective: each corner except the origin is moved.
class MEZZO_API RandomPerspective : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range, a NameError for an unknown interpolation.
  explicit RandomPerspective(const RandomPerspectiveOptions& options = {});

  /// Positional: `RandomPerspective(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomPerspective(N factor, const RandomPerspectiveOptions& options = {})
      : RandomPerspective(detail::positional("RandomPerspective", options.name, "factor",
                                             &RandomPerspectiveOptions::factor, detail::Factor(factor), options)) {}

  /// Positional: `RandomPerspective(0.5, 0.3)`.
  template <class N, class M, detail::IfNumber<N> = 0, detail::IfNumber<M> = 0>
  RandomPerspective(N factor, M scale, const RandomPerspectiveOptions& options = {})
      : RandomPerspective(detail::positional(
            "RandomPerspective", options.name, "scale", &RandomPerspectiveOptions::scale, static_cast<double>(scale),
            detail::positional("RandomPerspective", options.name, "factor", &RandomPerspectiveOptions::factor,
                               detail::Factor(factor), options))) {}
};

struct RandomElasticTransformOptions {
  detail::Factor factor{1.0};              ///< share of the images, in [0, 1]; one number f is {0, f}
  detail::Factor scale{1.0};               ///< strength, in [0, 1]; one number s is {0, s}
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::string fill_mode = "reflect";       ///< beyond the border: "reflect", "mirror", "wrap", "constant" or "nearest"
  double fill_value = 0;                   ///< value for fill_mode "constant"
  detail::Factor value_range{0.0, 255.0};  ///< least and largest number of the images, which results are cut to
  std::optional<std::uint64_t> seed{};     ///< seed of the changes; default: see ImageAugmentation
  std::string name{};  ///< name of the layer; "": automatic ("random_elastic_transform", "random_elastic_transform_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Moves the pixels of some of the images by smoothed noise (Simard et al., "Best practices for convolutional neural
/// networks applied to visual document analysis", 2003). With strength s the noise has the deviation and the smoothing
/// 0.05 s min(height, width), and is multiplied by 0.1 s max(height, width).
class MEZZO_API RandomElasticTransform : public detail::ImageAugmentation {
 public:
  /// A ValueError for factors out of range, a NameError for unknown names.
  explicit RandomElasticTransform(const RandomElasticTransformOptions& options = {});

  /// Positional: `RandomElasticTransform(0.5)`.
  template <class N, detail::IfNumber<N> = 0>
  explicit RandomElasticTransform(N factor, const RandomElasticTransformOptions& options = {})
      : RandomElasticTransform(detail::positional("RandomElasticTransform", options.name, "factor",
                                                  &RandomElasticTransformOptions::factor, detail::Factor(factor),
                                                  options)) {}
};

}  // namespace mezzo
