#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of constraints that configs name.
std::vector<detail::SavedClass<Constraint>> constraint_classes();

}  // namespace mezzo
