#include <mezzo/datasets/mnist.hpp>

#include <mezzo/datasets/idx_images.hpp>

namespace mezzo::datasets {

std::pair<Dataset, Dataset> mnist(const MnistOptions& options) {
  return detail::read_idx_images({.name = "mnist", .root = options.root});
}

}  // namespace mezzo::datasets
