#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/folder_dataset.hpp>
#include <mezzo/data/image/decode.hpp>

namespace mezzo {

/// Options of image_dataset_from_directory, in Keras' order. `batch_size`, and a new order in each epoch, are options
/// of the DataLoader.
struct ImageDatasetOptions {
  detail::FolderLabels labels = "inferred";               ///< "inferred", one number for each file, or std::nullopt
  std::optional<std::string> label_mode = "int";          ///< "int", "categorical", "binary" or std::nullopt
  std::optional<std::vector<std::string>> class_names{};  ///< sub-folders in the order of their labels; default: all
  std::string color_mode = "rgb";                         ///< "rgb" or "grayscale" (ITU-R 601 luma)
  std::array<std::int64_t, 2> image_size{256, 256};       ///< height and width of the samples, at least 1
  bool shuffle = true;                                    ///< true: the files in random order; false: by path
  std::optional<std::uint64_t> seed{};                    ///< seed of the order; default: that of seed_everything()
  std::optional<double> validation_split{};               ///< share of the files in the validation part, in (0, 1)
  std::optional<std::string> subset{};     ///< "training" or "validation"; for "both": image_datasets_from_directory()
  std::string interpolation = "bilinear";  ///< "bilinear", "nearest", "bicubic", "lanczos3" or "lanczos5"
  bool follow_links = false;               ///< true: enters folders by symbolic links
  bool crop_to_aspect_ratio = false;       ///< cuts the largest middle part with the proportions of image_size
  bool pad_to_aspect_ratio = false;        ///< adds black borders to get these proportions
  std::string unreadable = "skip";         ///< files that can't be read: "skip" leaves them out, "error" throws
  bool verify = false;                     ///< decodes each file once, in all threads, to find damaged ones
};

/// Pictures in a folder, as keras.utils.image_dataset_from_directory: by default `directory/class/.../file` with a
/// class for each sub-folder, in alphabetical order. Fields: `image` (float32, (height, width, channels), 0 to 255,
/// input) and `label` (target): int32 () for label_mode "int", float32 (classes,) for "categorical", float32 (1,) for
/// "binary". Files are BMP, JPEG, PNG, TIFF and WebP pictures, read when a sample is, and resized without
/// antialiasing, as Keras does. The random order is not that of NumPy.
///
/// Files with another suffix can't be read, except for hidden ones, which are no part of the set. With `verify`,
/// damaged files can't be read either. They are left out, counted in a warning and listed by skipped_files(), or are an
/// error. Without `verify`, reading a sample throws a FileError with file and index if its file is damaged; a
/// DataLoader with `on_error = "skip"` leaves it out.
///
/// Throws a FileError if the folder doesn't exist or has no picture, or for a file that can't be read. Throws a
/// NameError for unknown names, a ValueError for options out of their range or that contradict each other, as
/// validation_split without subset, or shuffled parts without seed.
MEZZO_API detail::FolderDataset image_dataset_from_directory(const std::string& directory,
                                                             const ImageDatasetOptions& options = {});

/// The training and the validation part: Keras' subset="both".
MEZZO_API std::pair<detail::FolderDataset, detail::FolderDataset> image_datasets_from_directory(
    const std::string& directory, const ImageDatasetOptions& options);

struct ImageFolderOptions {
  /// Changes a picture, (height, width, 3) of dtype decode.dtype, after it is read. All results must have one shape and
  /// dtype. Loaders call it in their threads. Not given: all pictures must have one size.
  std::function<Tensor(const Tensor& picture, std::int64_t index, std::int64_t epoch)> transform{};
  image::DecodeOptions decode{};    ///< dtype and largest size of the pictures
  std::string unreadable = "skip";  ///< as in ImageDatasetOptions
  bool verify = false;              ///< as in ImageDatasetOptions
};

/// Pictures in `root/class/.../file`, as torchvision.datasets.ImageFolder, by class and path. Fields: `image` (the
/// transform's result, input) and `label` (int64, (), target). Reads the first picture at once, for its shape, and each
/// other one when its sample is read. Errors are those of image_dataset_from_directory(); a ShapeError with the
/// sample's index if shapes differ.
MEZZO_API detail::FolderDataset image_folder(const std::string& root, const ImageFolderOptions& options = {});

}  // namespace mezzo
