#pragma once
#include <vector>

#include <mezzo/nn/named_class.hpp>

namespace mezzo {

/// Classes of constraints that configs and options name.
std::vector<detail::NamedClass<Constraint>> constraint_classes();

}  // namespace mezzo
