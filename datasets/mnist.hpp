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
/// with or without `.gz`, from the first of these that has them: `root`; if it is "", the environment's MEZZO_DATA;
/// then /usr/local/share/datasets and /usr/share/datasets; in each, the folder itself or `mnist` in it. Nothing is
/// downloaded. A FileError that lists the places looked in if there are none, or if a file is corrupt.
std::pair<Dataset, Dataset> mnist(const MnistOptions& options = {});

}  // namespace mezzo::datasets
