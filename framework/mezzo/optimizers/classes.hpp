#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of optimizers that configs name.
std::vector<detail::SavedClass<Optimizer>> optimizer_classes();
/// Classes of learning-rate schedules that configs name.
std::vector<detail::SavedClass<Schedule>> schedule_classes();

}  // namespace mezzo
