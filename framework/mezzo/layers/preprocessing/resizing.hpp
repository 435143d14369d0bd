#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct ResizingOptions {
  std::int64_t height = 0;                 ///< required; size of the result, in pixels
  std::int64_t width = 0;                  ///< required; size of the result, in pixels
  std::string interpolation = "bilinear";  ///< "bilinear", "nearest", "bicubic", "lanczos3" or "lanczos5"
  bool crop_to_aspect_ratio = false;       ///< cuts the middle part with the proportions of the new size
  bool pad_to_aspect_ratio = false;        ///< adds borders of fill_value to get these proportions
  double fill_value = 0;                   ///< value of the borders
  bool antialias = false;                  ///< widens the filter where images shrink; not for "nearest"
  std::string name{};                      ///< name of the layer; "": automatic ("resizing", "resizing_1")
  Policy dtype{};                          ///< precision policy; default: the policy of the enclosing layer or model
};

/// Images (batch, height, width, channels), or one without the batch, of another size. Integers stay integers, rounded
/// and cut to the range of their dtype, as in Keras. On pictures of a data set: image::resize().
class MEZZO_API Resizing : public Layer {
 public:
  /// A ValueError for a size below 1 or both aspect ratios, a NameError for an unknown interpolation.
  explicit Resizing(ResizingOptions options = {});

  /// Positional: `Resizing(32, 32)`.
  template <class I, class K, detail::IfInteger<I> = 0, detail::IfInteger<K> = 0>
  Resizing(I height, K width, ResizingOptions options = {})
      : Resizing(detail::positional("Resizing", options.name, "width", &ResizingOptions::width,
                                    static_cast<std::int64_t>(width),
                                    detail::positional("Resizing", options.name, "height", &ResizingOptions::height,
                                                       static_cast<std::int64_t>(height), options))) {}

 protected:
  Value call(const Value& x) override;

 private:
  ResizingOptions options_;
};

struct CenterCropOptions {
  std::int64_t height = 0;  ///< required; size of the result, in pixels
  std::int64_t width = 0;   ///< required; size of the result, in pixels
  std::string name{};       ///< name of the layer; "": automatic ("center_crop", "center_crop_1")
  Policy dtype{};           ///< precision policy; default: the policy of the enclosing layer or model
};

/// Middle part of images (batch, height, width, channels), or of one without the batch, as floats of the compute dtype.
/// A smaller image is resized (bilinear) after it was cut to the proportions, as in Keras. On pictures of a data set:
/// image::center_crop().
class MEZZO_API CenterCrop : public Layer {
 public:
  /// A ValueError for a size below 1.
  explicit CenterCrop(CenterCropOptions options = {});

  /// Positional: `CenterCrop(24, 24)`.
  template <class I, class K, detail::IfInteger<I> = 0, detail::IfInteger<K> = 0>
  CenterCrop(I height, K width, CenterCropOptions options = {})
      : CenterCrop(detail::positional(
            "CenterCrop", options.name, "width", &CenterCropOptions::width, static_cast<std::int64_t>(width),
            detail::positional("CenterCrop", options.name, "height", &CenterCropOptions::height,
                               static_cast<std::int64_t>(height), options))) {}

 protected:
  Value call(const Value& x) override;

 private:
  CenterCropOptions options_;
};

}  // namespace mezzo
