#pragma once
#include <vector>

#include <mezzo/nn/named_class.hpp>

namespace mezzo {

/// Classes of regularizers that configs and options name.
std::vector<detail::NamedClass<Regularizer>> regularizer_classes();

}  // namespace mezzo
