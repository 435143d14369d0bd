#pragma once
#include <vector>

#include <mezzo/nn/named_class.hpp>

namespace mezzo {

/// Classes of losses that configs and options name.
std::vector<detail::NamedClass<Loss>> loss_classes();

}  // namespace mezzo
