#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo {

namespace detail {
/// Index of the sample at each position of an epoch.
using SampleOrder = std::function<std::int64_t(std::int64_t position)>;
}  // namespace detail

/// Base of samplers: the order in which a DataLoader takes the samples of its data set. A class of your own overrides
/// size() and order().
class MEZZO_API Sampler {
 public:
  virtual ~Sampler() = default;

  /// Number of samples of an epoch, 1 or more.
  virtual std::int64_t size() const = 0;

  /// Order of an epoch: a function of the positions [0, size()), which several threads call at the same time. It should
  /// depend only on the epoch and the seed of the loader: then an epoch is the same for any number of workers and after
  /// a resume.
  virtual detail::SampleOrder order(std::int64_t epoch, std::uint64_t seed) const = 0;

  /// Kind and options of the sampler. A checkpoint keeps this text, and a resume under another one is refused. Default:
  /// the number of samples.
  virtual std::string describe() const;
};

/// The samples of a data set in its order.
class MEZZO_API SequentialSampler : public Sampler {
 public:
  /// Keeps the number of samples, not the data.
  explicit SequentialSampler(const Dataset& data) : size_(data.size()) {}
  std::int64_t size() const override { return size_; }
  detail::SampleOrder order(std::int64_t epoch, std::uint64_t seed) const override;
  std::string describe() const override;

 private:
  std::int64_t size_;
};

struct RandomSamplerOptions {
  /// True: each sample is drawn from the whole data set.
  bool replacement = false;
  /// Samples of an epoch, 1 or more. Without replacement, samples beyond the size of the data set are drawn from
  /// further permutations. Not given: the number of samples of the data set.
  std::optional<std::int64_t> num_samples{};
};

/// Samples in random order, as torch's RandomSampler. The default order is that of `shuffle`. The order of up to 65,536
/// samples is stored; a longer order is computed, in constant memory.
class MEZZO_API RandomSampler : public Sampler {
 public:
  /// A ValueError for a data set without samples, or num_samples below 1.
  explicit RandomSampler(const Dataset& data, const RandomSamplerOptions& options = {});
  std::int64_t size() const override { return options_.num_samples.value_or(count_); }
  detail::SampleOrder order(std::int64_t epoch, std::uint64_t seed) const override;
  std::string describe() const override;

 private:
  std::int64_t count_;
  RandomSamplerOptions options_;
};

struct WeightedRandomSamplerOptions {
  /// True: each sample is drawn from all of them. False: a sample occurs once in an epoch.
  bool replacement = true;
};

/// Samples drawn by their weights, as torch's WeightedRandomSampler: for classes of different sizes, the weight of a
/// sample is 1 / (size of its class). Keeps 8 bytes a sample, in an epoch without replacement 16 more.
class MEZZO_API WeightedRandomSampler : public Sampler {
 public:
  /// Weights of all samples of the data set, and the number of samples of an epoch. A ValueError if a weight is
  /// negative or not finite, if all are 0, or if num_samples is below 1; without replacement also if it is larger than
  /// the number of weights above 0.
  WeightedRandomSampler(const std::vector<double>& weights, std::int64_t num_samples,
                        const WeightedRandomSamplerOptions& options = {});
  std::int64_t size() const override { return num_samples_; }
  detail::SampleOrder order(std::int64_t epoch, std::uint64_t seed) const override;
  std::string describe() const override;

 private:
  std::shared_ptr<const std::vector<double>> sums_;  // of the weights up to each sample
  std::int64_t num_samples_;
  bool replacement_;
};

struct DistributedSamplerOptions {
  std::int64_t num_replicas = 1;  ///< processes that share the samples, 1 or more
  std::int64_t rank = 0;          ///< of this process, in [0, num_replicas)
  bool shuffle = true;            ///< true: random order; not used with a sampler
  /// True: leaves out the last samples if they can't be divided evenly. False: takes the first samples again.
  bool drop_last = false;
};

/// The part of the samples that belongs to one of several processes, as torch's DistributedSampler: positions rank,
/// rank + num_replicas, ... of the whole order. All processes must have the same seed.
class MEZZO_API DistributedSampler : public Sampler {
 public:
  /// A ValueError for options out of range, or if a process would have no samples.
  explicit DistributedSampler(const Dataset& data, const DistributedSamplerOptions& options = {});

  /// Divides the samples of another sampler. The same errors; also for an empty handle.
  explicit DistributedSampler(Any<Sampler> sampler, const DistributedSamplerOptions& options = {});

  std::int64_t size() const override;
  detail::SampleOrder order(std::int64_t epoch, std::uint64_t seed) const override;
  std::string describe() const override;

 private:
  Any<Sampler> whole_;
  DistributedSamplerOptions options_;
};

}  // namespace mezzo
