#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/tensor.hpp>
#include <mezzo/data/image/crop.hpp>

namespace mezzo::image {

/// What a random transform depends on, and nothing else: the same sample in the same epoch comes out alike on any
/// thread and after a resume. Transforms of different names draw independent numbers.
struct SampleKey {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t index = 0;
};

/// A part of this size at a uniformly random place. A ValueError if the picture is smaller.
Tensor random_crop(const Tensor& image, const CropSizeOptions& options, const SampleKey& key);

struct RandomFlipOptions {
  double probability = 0.5;
};

/// horizontal_flip() with this probability. A ValueError if it lies outside [0, 1].
Tensor random_horizontal_flip(const Tensor& image, const RandomFlipOptions& options, const SampleKey& key);

/// Scale is the part's share of the area, ratio its width / height.
struct RandomResizedCropOptions {
  std::int64_t height = 0;
  std::int64_t width = 0;
  double min_scale = 0.08;
  double max_scale = 1.0;
  double min_ratio = 3.0 / 4;
  double max_ratio = 4.0 / 3;
  std::string interpolation = "bilinear";
};

/// torchvision's `RandomResizedCrop`: a part of random area and of log-uniformly random ratio at a random place,
/// resized; after ten that don't fit, the largest in the middle whose ratio is in bounds. A ValueError if bounds are
/// not positive or not in order.
Tensor random_resized_crop(const Tensor& image, const RandomResizedCropOptions& options, const SampleKey& key);

}  // namespace mezzo::image
