#include <mezzo/datasets/fashion_mnist.hpp>

#include <mezzo/datasets/idx_images.hpp>

namespace mezzo::datasets {

std::pair<Dataset, Dataset> fashion_mnist(const FashionMnistOptions& options) {
  return detail::read_idx_images(
      {.name = "fashion-mnist", .root = options.root, .hint = "Debian's package `dataset-fashion-mnist` installs it"});
}

}  // namespace mezzo::datasets
