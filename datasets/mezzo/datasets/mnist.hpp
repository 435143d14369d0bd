#pragma once
#include <string>
#include <utility>

#include <mezzo/data/dataset.hpp>

namespace mezzo::datasets {

struct MnistOptions {
  /// Folder that holds the four files, or a folder `mnist` with them; "" searches, see mnist().
  std::string root{};
};

/// Handwritten digits (LeCun, Cortes, Burges): 60,000 samples to train on and 10,000 to test with, with fields `image`
/// (uint8, (28, 28, 1), input) and `label` (int64, (), 0 to 9, target).
///
/// Reads `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte` and `t10k-labels-idx1-ubyte`,
/// with or without `.gz`, from the first of these folders that has them: `root` or `mnist` in it; if `root` is "",
/// `mnist` in the environment's MEZZO_DATA, in /usr/local/share/datasets or in /usr/share/datasets. Nothing is
/// downloaded. A FileError that lists the places looked in if there are none, or if a file is corrupt.
std::pair<Dataset, Dataset> mnist(const MnistOptions& options = {});

}  // namespace mezzo::datasets
