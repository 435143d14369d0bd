#pragma once
#include <vector>

#include <mezzo/nn/saved_class.hpp>

namespace mezzo {

/// Classes of metrics that configs name.
std::vector<detail::SavedClass<Metric>> metric_classes();

}  // namespace mezzo
