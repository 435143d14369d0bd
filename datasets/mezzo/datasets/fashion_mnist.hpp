#pragma once
#include <string>
#include <utility>

#include <mezzo/data/dataset.hpp>

namespace mezzo::datasets {

struct FashionMnistOptions {
  /// Folder that holds the four files, or a folder `fashion-mnist` with them; "" searches, see mnist().
  std::string root{};
};

/// Zalando's pictures of clothes (Xiao, Rasul, Vollgraf, 2017): in files, sizes, fields and search just like mnist(),
/// the folder being `fashion-mnist`. Debian's package `dataset-fashion-mnist` installs it. Labels: T-shirt, trouser,
/// pullover, dress, coat, sandal, shirt, sneaker, bag, ankle boot.
std::pair<Dataset, Dataset> fashion_mnist(const FashionMnistOptions& options = {});

}  // namespace mezzo::datasets
