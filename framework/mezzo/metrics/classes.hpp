#pragma once
#include <vector>

#include <mezzo/nn/named_class.hpp>

namespace mezzo {

/// Classes of metrics that configs and options name.
std::vector<detail::NamedClass<Metric>> metric_classes();

}  // namespace mezzo
