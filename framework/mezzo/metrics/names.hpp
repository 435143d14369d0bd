#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/nn/metric.hpp>

namespace mezzo {

/// Metrics by Keras' names.
const NameTable<Metric>& metric_names();

}  // namespace mezzo
