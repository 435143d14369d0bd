#pragma once
#include <string>
#include <utility>

#include <mezzo/data/dataset.hpp>

namespace mezzo::datasets::detail {

struct IdxImagesOptions {
  std::string name{};  // of the folder
  std::string root{};  // where to look; "" searches
  std::string hint{};  // how to get the files
};

// The training and the test set out of MNIST's four files: fields `image` and `label`, ten classes.
std::pair<Dataset, Dataset> read_idx_images(const IdxImagesOptions& options);

}  // namespace mezzo::datasets::detail
