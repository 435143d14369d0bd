#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/data/dataset.hpp>

namespace mezzo::datasets {

struct OxfordIiitPetOptions {
  /// Folder that holds `images` and `annotations`, or a folder `oxford-iiit-pet` with them; "" searches, see mnist().
  std::string root{};
  /// Height and width of the pictures that come out, in pixels.
  std::int64_t image_size = 224;
  /// Pixels of the shorter side before the middle is cut out; at least image_size.
  std::int64_t resize_size = 256;
  /// Whether pictures to train on are random parts, half of them flipped, and new in each epoch; otherwise the middle.
  bool augment = true;
  /// Seed of that; -1 follows seed_everything().
  std::int64_t seed = -1;
};

/// Pictures of 37 breeds of cats and dogs (Parkhi, Vedaldi, Zisserman, Jawahar, 2012): about 100 samples a breed to
/// train on (`trainval`) and to test with, with fields `image` (uint8, (image_size, image_size, 3), input) and `label`
/// (int64, (), 0 to 36, target). Scaling and normalization are left to the model.
///
/// Reads `annotations/trainval.txt` and `annotations/test.txt`, whose lines are `name class species breed` with classes
/// from 1 on, and `images/name.jpg` when a sample is asked for. The test set is torchvision's `Resize(resize_size)`
/// and `CenterCrop(image_size)`, the training set `RandomResizedCrop(image_size)` and `RandomHorizontalFlip()`, drawn
/// by seed, epoch and index. The folder is searched for as mnist() does; nothing is downloaded.
///
/// A FileError that lists the places looked in if there are none, or that names file and line of an annotation that is
/// malformed. A picture that is missing or corrupt is a FileError when it is read, with file and index. A ValueError if
/// sizes are below 1 or resize_size is below image_size.
std::pair<Dataset, Dataset> oxford_iiit_pet(const OxfordIiitPetOptions& options = {});

/// The breeds by label.
const std::vector<std::string>& oxford_iiit_pet_classes();

}  // namespace mezzo::datasets
