#include <mezzo/datasets/mnist.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/datasets/fashion_mnist.hpp>
#include <mezzo/datasets/search.hpp>
#include <mezzo/io/idx.hpp>

namespace mezzo::datasets {
namespace {

using detail::find_folder;
using detail::require_file;

constexpr int digits = 10;
constexpr std::int64_t most_images = 1'000'000;  // per file; MNIST has 60,000, EMNIST 814,255

Tensor read_images(const std::string& path) {
  const Tensor images = read_idx_file(path, [&](DType dtype, const Shape& shape) {
    if (dtype != DType::uint8 || shape.size() != 3 || shape[1] != 28 || shape[2] != 28) {
      fail<FileError>("[datasets]", "\"{}\" must hold images, uint8 (?, 28, 28); got {} {}", path, dtype, shape);
    }
    if (shape[0] > most_images) {
      fail<FileError>("[datasets]", "\"{}\" must hold at most {} images; got {}", path, most_images, shape[0]);
    }
  });
  return images.reshape({images.shape()[0], 28, 28, 1});
}

Tensor read_labels(const std::string& path, std::int64_t count) {
  const Tensor labels = read_idx_file(path, [&](DType dtype, const Shape& shape) {
    if (dtype == DType::uint8 && shape == Shape{count}) return;
    fail<FileError>("[datasets]", "\"{}\" must hold a label for each image, uint8 {}; got {} {}", path, Shape{count},
                    dtype, shape);
  });
  const auto* begin = labels.data<std::uint8_t>();
  const auto* bad = std::find_if(begin, begin + count, [](std::uint8_t label) { return label >= digits; });
  if (bad != begin + count) {
    fail<FileError>("[datasets]", "\"{}\": label {} must lie in [0, {}); got {}", path, bad - begin, digits, *bad);
  }
  return labels.cast(DType::int64);
}

Dataset read_part(const std::string& folder, const std::string& part) {
  Tensor images = read_images(require_file(folder, part + "-images-idx3-ubyte"));
  Tensor labels = read_labels(require_file(folder, part + "-labels-idx1-ubyte"), images.shape()[0]);
  return Dataset::from_tensors({{"image", std::move(images), Role::input}, {"label", std::move(labels), Role::target}});
}

/// Reads the training and the test set from MNIST's four files. `name` is the folder's name, `hint` explains how to get
/// the files.
std::pair<Dataset, Dataset> read_files(const std::string& name, const std::string& root, const std::string& hint) {
  const std::string folder = find_folder(name, root, "train-images-idx3-ubyte", hint);
  return {read_part(folder, "train"), read_part(folder, "t10k")};
}

}  // namespace

std::pair<Dataset, Dataset> mnist(const MnistOptions& options) { return read_files("mnist", options.root, ""); }

std::pair<Dataset, Dataset> fashion_mnist(const FashionMnistOptions& options) {
  return read_files("fashion-mnist", options.root, "Debian's package `dataset-fashion-mnist` installs it");
}

}  // namespace mezzo::datasets
