#pragma once
#include <vector>

#include <mezzo/nn/named_class.hpp>

namespace mezzo {

/// Classes of initializers that configs and options name.
std::vector<detail::NamedClass<Initializer>> initializer_classes();

}  // namespace mezzo
