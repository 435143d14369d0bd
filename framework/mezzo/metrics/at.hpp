#pragma once
#include <mezzo/metrics/confusion.hpp>

namespace mezzo::metrics {

/// Arguments of PrecisionAtRecall and metrics like it, for configs.
struct AtArguments {
  double least = 0;  ///< the given rate
  AtOptions options{};
};

}  // namespace mezzo::metrics
