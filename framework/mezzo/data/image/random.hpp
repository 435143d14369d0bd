#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/data/image/crop.hpp>

namespace mezzo::image {

/// Key of the random numbers of a transform. Transforms depend on nothing else: a sample is the same in the same epoch
/// on any thread and after a resume. Different transforms draw independent numbers.
struct SampleKey {
  std::uint64_t seed = 0;  ///< seed of the data set
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t index = 0;  ///< index of the sample in the data set
};

/// Cuts a part of this size out of a picture at a uniformly random place. Throws a ValueError if the picture is
/// smaller; further errors are those of crop().
MEZZO_API Tensor random_crop(const Tensor& image, const CropSizeOptions& options, const SampleKey& key);

struct RandomFlipOptions {
  double probability = 0.5;  ///< in [0, 1]
};

/// Calls horizontal_flip() with a probability. Throws a ValueError if the probability is not in [0, 1].
MEZZO_API Tensor random_horizontal_flip(const Tensor& image, const RandomFlipOptions& options, const SampleKey& key);

/// Scale is the part's share of the picture's area; ratio is the part's width / height.
struct RandomResizedCropOptions {
  std::int64_t height = 0;                 ///< size of the result, in pixels. Required.
  std::int64_t width = 0;                  ///< size of the result, in pixels. Required.
  double min_scale = 0.08;                 ///< above 0
  double max_scale = 1.0;                  ///< in [min_scale, 1]
  double min_ratio = 3.0 / 4;              ///< above 0
  double max_ratio = 4.0 / 3;              ///< at least min_ratio
  std::string interpolation = "bilinear";  ///< "bilinear", "bicubic" or "nearest"
};

/// Cuts a part of random area, random ratio (log-uniform) and random place out of a picture and resizes it, as
/// torchvision's `RandomResizedCrop`. After ten parts that don't fit, it takes the largest part in the middle whose
/// ratio is in bounds. Throws a ValueError if bounds are not positive or not in order; further errors are those of
/// resize().
MEZZO_API Tensor random_resized_crop(const Tensor& image, const RandomResizedCropOptions& options,
                                     const SampleKey& key);

}  // namespace mezzo::image
