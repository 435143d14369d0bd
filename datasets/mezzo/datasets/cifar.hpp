#pragma once
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo::datasets {

struct Cifar10Options {
  /// Folder that holds the six files, or that holds a folder `cifar-10-batches-bin` with them. "": searches as mnist().
  std::string root{};
};

/// Pictures of 10 classes (Krizhevsky, 2009): a training set of 50,000 samples and a test set of 10,000. Fields:
/// `image` (uint8, shape (32, 32, 3), input) and `label` (int64, shape (), 0 to 9, target).
///
/// Reads the binary version, `data_batch_1.bin` to `data_batch_5.bin` and `test_batch.bin`, with or without `.gz`; the
/// version that Keras and torchvision read consists of pickles, which can run code. The search for the folder is that
/// of mnist(); nothing is downloaded. Throws a FileError with the searched folders if there are no files, and if a file
/// is corrupt.
MEZZO_API std::pair<Dataset, Dataset> cifar10(const Cifar10Options& options = {});

struct Cifar100Options {
  /// Folder that holds the two files, or that holds a folder `cifar-100-binary` with them. "": searches as mnist().
  std::string root{};
  /// "fine": 100 classes; "coarse": 20 superclasses.
  std::string label_mode = "fine";
};

/// Pictures of 100 classes (Krizhevsky, 2009), as cifar10(): from `train.bin` and `test.bin` of the binary version.
/// Throws a NameError for an unknown label_mode.
MEZZO_API std::pair<Dataset, Dataset> cifar100(const Cifar100Options& options = {});

}  // namespace mezzo::datasets
