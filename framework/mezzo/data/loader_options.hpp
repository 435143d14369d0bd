#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/data/sampler.hpp>

namespace mezzo {

struct DataLoaderOptions {
  /// Samples per batch, 1 or more.
  std::int64_t batch_size = 32;
  /// True: each epoch has a random order of its own. False: the order of the data set.
  bool shuffle = false;
  /// Drops the last batch if it has fewer samples than batch_size.
  bool drop_last = false;
  /// Number of background threads that load batches. 0: the caller's thread loads them.
  int workers = 1;
  /// Number of batches that each worker may load ahead, 1 or more.
  int prefetch = 2;
  /// Seed of the order. -1: the seed of seed_everything().
  std::int64_t seed = -1;
  /// Order of the samples: `.sampler = WeightedRandomSampler(weights, 1000)`. Not given: RandomSampler with `shuffle`,
  /// else SequentialSampler. An error together with `shuffle`.
  Any<Sampler> sampler{};
  /// Makes a batch of samples, as torch's collate_fn. The batch must have all of them, along axis 0 of each field;
  /// names and dtypes are free. The workers call it, several at the same time. Not given: samples are stacked, and open
  /// axes (Field::shape) are padded.
  std::function<HostBatch(const std::vector<detail::DatasetSample>& samples)> collate{};
  /// Numbers that open axes are padded with, by field. Default: 0.
  std::map<std::string, double> padding_values{};
  /// Sizes that open axes are padded to, ascending: the least one that all samples of the batch fit in. Each size has a
  /// plan of its own. A sample of a larger size is a ValueError. Empty: batches are as long as their longest sample.
  std::vector<std::int64_t> bucket_boundaries{};
  /// True: a batch has samples of one bucket. Lengths of all samples must be known without reading them
  /// (DatasetSource::length). Needs bucket_boundaries, keeps 8 bytes a sample, and can't be used with a sampler.
  bool group_by_length = false;
  /// "raise": a sample that can't be read is an error. "skip": its batch has one sample less. The first such sample is
  /// a warning with its error, and each pass that has any ends with a warning that counts them. A batch without any
  /// sample is a ValueError. MemoryErrors are never skipped. An iterable data set takes "raise" alone.
  std::string on_error = "raise";
};

namespace detail {
/// Position in the data of a training.
struct LoaderPosition {
  std::int64_t epoch = 0;    ///< pass over the data, 0 or more
  std::int64_t samples = 0;  ///< samples of that pass that were taken, skipped ones included
  std::int64_t batches = 0;  ///< batches of that pass that were taken; of a CombinedLoader, in place of `samples`
};
}  // namespace detail

}  // namespace mezzo
