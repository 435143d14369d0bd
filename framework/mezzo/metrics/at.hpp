#pragma once
#include <mezzo/metrics/confusion.hpp>

namespace mezzo::metrics {

/// Arguments of the metrics of one rate at a given other one, for configs.
struct AtArguments {
  double least = 0;  ///< the given rate
  AtOptions options{};
};

}  // namespace mezzo::metrics
