#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of losses that configs name.
std::vector<detail::SavedClass<Loss>> loss_classes();

}  // namespace mezzo
