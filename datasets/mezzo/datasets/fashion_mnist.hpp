#pragma once
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo::datasets {

struct FashionMnistOptions {
  /// Folder that holds the four files, or that holds a folder `fashion-mnist` with them. "": searches the places of
  /// mnist().
  std::string root{};
};

/// Zalando's pictures of clothes (Xiao, Rasul, Vollgraf, 2017). Files, sizes, fields and search are those of mnist();
/// the folder's name is `fashion-mnist`. Debian's package `dataset-fashion-mnist` installs it. Labels, from 0: T-shirt,
/// trouser, pullover, dress, coat, sandal, shirt, sneaker, bag, ankle boot.
MEZZO_API std::pair<Dataset, Dataset> fashion_mnist(const FashionMnistOptions& options = {});

}  // namespace mezzo::datasets
