#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of initializers that configs name.
std::vector<detail::SavedClass<Initializer>> initializer_classes();

}  // namespace mezzo
