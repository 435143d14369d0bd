#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>

// keras.ops.image: functions of images (height, width, channels) or (batch, height, width, channels), with gradients.
// Throws a ShapeError for images of another rank or with the wrong number of channels. The functions of Tensors in
// <mezzo/data/image/...> prepare uint8 pictures: `image::resize(tensor, {.height = 32, .width = 32})`.
namespace mezzo::image {

/// @name Colours
/// @{
/// 0.2989 red + 0.587 green + 0.114 blue, with one channel; images of one channel are returned. Integers truncate.
MEZZO_API Value rgb_to_grayscale(const Value& images);
/// Hue, saturation and value, each in [0, 1], of red, green and blue in [0, 1] (Smith, 1978). Throws a DTypeError for
/// integers, as hsv_to_rgb.
MEZZO_API Value rgb_to_hsv(const Value& images);
MEZZO_API Value hsv_to_rgb(const Value& images);
/// @}

/// @name Sizes
/// @{
/// Options of resize.
struct ResizeImagesOptions {
  std::string interpolation = "bilinear";  ///< "bilinear", "nearest", "bicubic" (a = -0.5), "lanczos3" or "lanczos5"
  bool antialias = false;                  ///< widens the filter where images shrink; not for "nearest"
  bool crop_to_aspect_ratio = false;       ///< cuts the middle part with the proportions of the new size
  bool pad_to_aspect_ratio = false;        ///< adds borders to get these proportions
  double fill_value = 0;                   ///< value of the borders
};

/// Images of another size: {height, width}, as keras.ops.image.resize on JAX. Integers become floats, unless by
/// "nearest". Throws a NameError for an unknown interpolation, a ValueError for both aspect ratios or a size below 1.
MEZZO_API Value resize(const Value& images, const mezzo::detail::Ints& size, const ResizeImagesOptions& options = {});

/// Options of scale_and_translate.
struct ScaleOptions {
  std::string method = "bilinear";  ///< "linear", "cubic" (or with "bi", "tri" in front), "lanczos3" or "lanczos5"
  bool antialias = true;            ///< widens the filter where the scale is below 1
};

/// x of another shape: along each of `spatial_dims` the element at i comes from (i + 0.5 - translation) / scale - 0.5;
/// outside of x is 0. The shape must be x's on all other axes.
MEZZO_API Value scale_and_translate(const Value& images, const Shape& output_shape, const std::vector<double>& scale,
                                    const std::vector<double>& translation, const Shape& spatial_dims,
                                    const ScaleOptions& options = {});

/// Options of crop_images. For height and for width, one of the three numbers must be left out.
struct CropImagesOptions {
  std::optional<std::int64_t> top_cropping{}, left_cropping{};      ///< pixels removed at these borders
  std::optional<std::int64_t> bottom_cropping{}, right_cropping{};  ///< pixels removed at these borders
  std::optional<std::int64_t> target_height{}, target_width{};      ///< size of the result
};

/// Images without pixels at the borders. Throws a ValueError unless the numbers fit the images.
MEZZO_API Value crop_images(const Value& images, const CropImagesOptions& options);

/// Options of pad_images. For height and for width, one of the three numbers must be left out.
struct PadImagesOptions {
  std::optional<std::int64_t> top_padding{}, left_padding{};      ///< zeros added at these borders
  std::optional<std::int64_t> bottom_padding{}, right_padding{};  ///< zeros added at these borders
  std::optional<std::int64_t> target_height{}, target_width{};    ///< size of the result
};

/// Images with zeros around them. Throws a ValueError unless the numbers fit the images.
MEZZO_API Value pad_images(const Value& images, const PadImagesOptions& options);
/// @}

/// @name Patches
/// @{
/// Options of extract_patches and extract_patches_3d.
struct PatchOptions {
  mezzo::detail::Ints strides = mezzo::detail::Ints();  ///< between patches, in pixels; default: the size
  mezzo::detail::Ints dilation_rate = 1;                ///< distance of a patch's pixels
  std::string padding = "valid";                        ///< "valid": patches inside the image; "same": zeros around it
};

/// Patches {height, width} of images: (batch, rows, columns, height width channels).
MEZZO_API Value extract_patches(const Value& images, const mezzo::detail::Ints& size, const PatchOptions& options = {});
/// Patches {depth, height, width} of volumes (batch, depth, height, width, channels), also without a batch.
MEZZO_API Value extract_patches_3d(const Value& volumes, const mezzo::detail::Ints& size,
                                   const PatchOptions& options = {});
/// @}

/// @name Pixels by position
/// @{
/// Options of map_coordinates.
struct MapCoordinatesOptions {
  /// Beyond the border: "constant" (fill_value), "nearest", "wrap", "mirror" (without the border itself) or "reflect".
  std::string fill_mode = "constant";
  double fill_value = 0;  ///< value beyond the border under "constant"
};

/// Elements of x (rank R) at `coordinates` (R, ...), which are floats: the nearest element for `order` 0, interpolated
/// for 1. Differentiable with respect to both arguments.
MEZZO_API Value map_coordinates(const Value& x, const Value& coordinates, std::int64_t order,
                                const MapCoordinatesOptions& options = {});

/// Options of affine_transform.
struct AffineOptions {
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::string fill_mode = "constant";      ///< as in map_coordinates
  double fill_value = 0;                   ///< value beyond the border under "constant"
};

/// Images whose pixel (x, y) comes from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1, of the
/// transform [a0, a1, a2, b0, b1, b2, c0, c1]: (8,) or (batch, 8).
MEZZO_API Value affine_transform(const Value& images, const Value& transform, const AffineOptions& options = {});

/// Options of perspective_transform.
struct PerspectiveOptions {
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  double fill_value = 0;                   ///< beyond the border
};

/// Images whose four points end_points come from start_points: (4, 2) or (batch, 4, 2), each (x, y).
MEZZO_API Value perspective_transform(const Value& images, const Value& start_points, const Value& end_points,
                                      const PerspectiveOptions& options = {});

/// Options of elastic_transform.
struct ElasticOptions {
  double alpha = 20;                       ///< strength, in pixels
  double sigma = 5;                        ///< smoothness: standard deviation of the filter, in pixels
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  std::string fill_mode = "reflect";       ///< as in map_coordinates
  double fill_value = 0;                   ///< value beyond the border under "constant"
  std::optional<std::uint64_t> seed{};     ///< as in random::normal
};

/// Images whose pixels are moved by smooth random distances (Simard et al., 2003).
MEZZO_API Value elastic_transform(const Value& images, const ElasticOptions& options = {});
/// @}

/// @name Filters
/// @{
/// Options of gaussian_blur, in Keras' order: first for the width, then for the height.
struct BlurOptions {
  mezzo::detail::Ints kernel_size = 3;     ///< in pixels
  std::vector<double> sigma = {1.0, 1.0};  ///< standard deviations, in pixels
};

/// Weighted means of neighbours; zeros beyond the border.
MEZZO_API Value gaussian_blur(const Value& images, const BlurOptions& options = {});

/// Differences of neighbours by Sobel's filters, of the height and of the width: (batch, height, width, channels, 2).
MEZZO_API Value sobel_edges(const Value& images);

/// Options of ssim.
struct SsimOptions {
  double max_val = 1;             ///< range of the pixels
  std::int64_t filter_size = 11;  ///< size of the Gaussian window
  double filter_sigma = 1.5;      ///< standard deviation of the window in pixels
  double k1 = 0.01, k2 = 0.03;    ///< stabilize the quotients: C1 = (k1 max_val)^2, C2 = (k2 max_val)^2
};

/// Structural similarity of images (Wang et al., 2004): (batch,), or () without a batch.
MEZZO_API Value ssim(const Value& image1, const Value& image2, const SsimOptions& options = {});
/// @}

}  // namespace mezzo::image
