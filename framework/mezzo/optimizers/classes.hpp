#pragma once
#include <vector>

#include <mezzo/nn/named_class.hpp>

namespace mezzo {

/// Classes of optimizers that configs and options name.
std::vector<detail::NamedClass<Optimizer>> optimizer_classes();
/// Classes of learning-rate schedules that configs name.
std::vector<detail::SavedClass<Schedule>> schedule_classes();

}  // namespace mezzo
