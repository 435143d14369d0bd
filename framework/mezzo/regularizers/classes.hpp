#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of regularizers that configs name.
std::vector<detail::SavedClass<Regularizer>> regularizer_classes();

}  // namespace mezzo
