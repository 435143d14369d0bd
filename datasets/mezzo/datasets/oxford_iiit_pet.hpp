#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo::datasets {

struct OxfordIiitPetOptions {
  /// Folder that holds `images` and `annotations`, or that holds a folder `oxford-iiit-pet` with them. "": searches as
  /// mnist() does.
  std::string root{};
  /// Height and width of the returned pictures, in pixels.
  std::int64_t image_size = 224;
  /// Length of the shorter side before the middle is cut out, in pixels; at least image_size.
  std::int64_t resize_size = 256;
  /// True: training pictures are random crops, half of them flipped, drawn again in each epoch. False: the middle.
  bool augment = true;
  /// Seed of the augmentation. -1: the seed of seed_everything().
  std::int64_t seed = -1;
};

/// Pictures of 37 breeds of cats and dogs (Parkhi, Vedaldi, Zisserman, Jawahar, 2012): a training set (`trainval`) and
/// a test set with about 100 samples per breed each. Fields: `image` (uint8, shape (image_size, image_size, 3), input)
/// and `label` (int64, shape (), 0 to 36, target). Pixels are not scaled or normalized.
///
/// Reads `annotations/trainval.txt` and `annotations/test.txt`, with lines `name class species breed` and classes from
/// 1 on, and `images/name.jpg` when a sample is read. The test set is torchvision's `Resize(resize_size)` and
/// `CenterCrop(image_size)`. The training set is `RandomResizedCrop(image_size)` and `RandomHorizontalFlip()`, drawn by
/// seed, epoch and index. The search for the folder is that of mnist(); nothing is downloaded.
///
/// Throws a FileError with the searched folders if there are no files, with file and line if an annotation is
/// malformed. Reading a sample throws a FileError with file and index if its picture is missing or corrupt. Throws a
/// ValueError if image_size is below 1 or resize_size is below image_size.
MEZZO_API std::pair<Dataset, Dataset> oxford_iiit_pet(const OxfordIiitPetOptions& options = {});

/// Names of the breeds, by label.
MEZZO_API const std::vector<std::string>& oxford_iiit_pet_classes();

}  // namespace mezzo::datasets
