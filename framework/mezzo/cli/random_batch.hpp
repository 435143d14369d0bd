#pragma once
#include <cstdint>

#include <mezzo/core/shape.hpp>
#include <mezzo/data/batch.hpp>

namespace mezzo::cli {

/// Samples of a model that is measured with random data.
struct RandomSamples {
  Shape sample{};               ///< shape of one input without the batch: (height, width, channels) or (positions)
  std::int64_t classes = 0;     ///< number of logits
  std::int64_t vocabulary = 0;  ///< number of token ids; 0: the inputs are float32 from a normal distribution
  bool language = false;        ///< each position has a label
};

/// A batch with the fields x and y (int64 labels). The numbers are the same on each call. tests/benchmarks compiles
/// this, too.
HostBatch random_batch(const RandomSamples& samples, std::int64_t size);

}  // namespace mezzo::cli
