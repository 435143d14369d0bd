#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of layers that configs name.
std::vector<detail::SavedClass<Layer>> layer_classes();

}  // namespace mezzo
