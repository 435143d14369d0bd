#pragma once
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo::datasets {

struct MnistOptions {
  /// Folder that holds the four files, or that holds a folder `mnist` with them. "": searches the places of mnist().
  std::string root{};
};

/// Handwritten digits (LeCun, Cortes, Burges): a training set of 60,000 samples and a test set of 10,000. Fields:
/// `image` (uint8, shape (28, 28, 1), input) and `label` (int64, shape (), 0 to 9, target).
///
/// Reads `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`,
/// with or without `.gz`, from the first folder that has them: `root` or `mnist` in it. If `root` is "": `mnist` in the
/// folder of the environment variable MEZZO_DATA, in /usr/local/share/datasets or in /usr/share/datasets. Downloads
/// nothing. Throws a FileError with the searched folders if there are no files, and if a file is corrupt.
MEZZO_API std::pair<Dataset, Dataset> mnist(const MnistOptions& options = {});

}  // namespace mezzo::datasets
