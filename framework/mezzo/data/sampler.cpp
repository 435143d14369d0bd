#include <mezzo/data/sampler.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/data/permutation.hpp>

namespace mezzo {
namespace {

/// Random numbers of the positions of an epoch.
class Draws {
 public:
  Draws(const char* purpose, std::uint64_t seed, std::int64_t epoch)
      : key_(detail::mix(seed, detail::key_of(purpose))), epoch_(static_cast<std::uint64_t>(epoch)) {}

  std::uint64_t word(std::int64_t position) const {
    const auto words = philox(key_, static_cast<std::uint64_t>(position), epoch_);
    return (std::uint64_t{words[1]} << 32) | words[0];
  }

  /// In [0, 1).
  double unit(std::int64_t position) const {
    const auto words = philox(key_, static_cast<std::uint64_t>(position), epoch_);
    return unit_double(words[1], words[0]);
  }

 private:
  std::uint64_t key_, epoch_;
};

Any<Sampler> whole_of(const Dataset& data, bool shuffle) {
  if (data.size() == 0) fail<ValueError>("[DistributedSampler]", "the data set must have samples; got 0");
  if (shuffle) return RandomSampler(data);
  return SequentialSampler(data);
}

/// Running sums of checked weights.
std::vector<double> sums_of(const std::vector<double>& weights) {
  std::vector<double> sums;
  sums.reserve(weights.size());
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(sum + weights[i])) {
      fail<ValueError>("[WeightedRandomSampler]", "weights must be 0 or more, and finite; got {} for sample {}",
                       weights[i], i);
    }
    sums.push_back(sum += weights[i]);
  }
  if (!(sum > 0)) fail<ValueError>("[WeightedRandomSampler]", "a weight must be above 0; got none");
  return sums;
}

double weight_at(const std::vector<double>& sums, std::size_t i) { return i == 0 ? sums[0] : sums[i] - sums[i - 1]; }

/// Samples in the order of drawing by weights without replacement (Efraimidis and Spirakis, IPL 2006): those with the
/// largest log(u) / weight.
std::vector<std::int64_t> drawn_once(const std::vector<double>& sums, std::int64_t count, const Draws& draws) {
  std::vector<std::pair<double, std::int64_t>> keys;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double weight = weight_at(sums, i);
    const auto index = static_cast<std::int64_t>(i);
    if (weight > 0) keys.emplace_back(-std::log1p(-draws.unit(index)) / weight, index);
  }
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(keys.begin(), end, keys.end());
  std::vector<std::int64_t> order;
  for (auto key = keys.begin(); key != end; ++key) order.push_back(key->second);
  return order;
}

}  // namespace

std::string Sampler::describe() const { return fmt::format("Sampler of {} samples", size()); }

detail::SampleOrder SequentialSampler::order(std::int64_t, std::uint64_t) const {
  return [](std::int64_t position) { return position; };
}

std::string SequentialSampler::describe() const { return fmt::format("SequentialSampler({})", size_); }

RandomSampler::RandomSampler(const Dataset& data, const RandomSamplerOptions& options)
    : count_(data.size()), options_(options) {
  if (count_ == 0) fail<ValueError>("[RandomSampler]", "the data set must have samples; got 0");
  if (size() < 1) fail<ValueError>("[RandomSampler]", "num_samples must be 1 or more; got {}", size());
}

detail::SampleOrder RandomSampler::order(std::int64_t epoch, std::uint64_t seed) const {
  if (options_.replacement) {
    return [count = static_cast<std::uint64_t>(count_), draws = Draws("RandomSampler", seed, epoch)](
               std::int64_t position) { return static_cast<std::int64_t>(detail::below(count, draws.word(position))); };
  }
  detail::SampleOrder first = detail::shuffled(count_, seed, epoch);
  if (size() <= count_) return first;
  const Draws keys("RandomSampler", seed, epoch);
  return [first = std::move(first), others = detail::KeyedPermutation(count_), keys](std::int64_t position) {
    const std::int64_t round = position / others.size(), place = position % others.size();
    return round == 0 ? first(place) : others.at(place, keys.word(round));
  };
}

std::string RandomSampler::describe() const {
  return fmt::format("RandomSampler({}, replacement = {}, num_samples = {})", count_, options_.replacement, size());
}

WeightedRandomSampler::WeightedRandomSampler(const std::vector<double>& weights, std::int64_t num_samples,
                                             const WeightedRandomSamplerOptions& options)
    : sums_(std::make_shared<const std::vector<double>>(sums_of(weights))),
      num_samples_(num_samples),
      replacement_(options.replacement) {
  if (num_samples < 1)
    fail<ValueError>("[WeightedRandomSampler]", "num_samples must be 1 or more; got {}", num_samples);
  if (replacement_) return;
  std::int64_t positive = 0;
  for (std::size_t i = 0; i < sums_->size(); ++i) positive += weight_at(*sums_, i) > 0 ? 1 : 0;
  if (num_samples > positive) {
    fail<ValueError>("[WeightedRandomSampler]",
                     "num_samples without replacement must be at most {}, the number of weights above 0; got {}",
                     positive, num_samples);
  }
}

detail::SampleOrder WeightedRandomSampler::order(std::int64_t epoch, std::uint64_t seed) const {
  const auto& sums = detail::unmoved<WeightedRandomSampler>(sums_);
  const Draws draws("WeightedRandomSampler", seed, epoch);
  if (!replacement_) {
    auto order = std::make_shared<const std::vector<std::int64_t>>(drawn_once(*sums, num_samples_, draws));
    return [order = std::move(order)](std::int64_t position) { return (*order)[static_cast<std::size_t>(position)]; };
  }
  return [sums, draws](std::int64_t position) {
    const double drawn = draws.unit(position) * sums->back();
    // The first sample whose sum reaches the last one also takes a product that was rounded up to it.
    const auto last = std::lower_bound(sums->begin(), sums->end(), sums->back());
    return static_cast<std::int64_t>(std::upper_bound(sums->begin(), last, drawn) - sums->begin());
  };
}

std::string WeightedRandomSampler::describe() const {
  const std::vector<double>& sums = *detail::unmoved<WeightedRandomSampler>(sums_);
  std::uint64_t hash = 0;
  for (const double sum : sums) hash = detail::mix(hash, std::bit_cast<std::uint64_t>(sum));
  return fmt::format("WeightedRandomSampler({} weights {:016x}, num_samples = {}, replacement = {})", sums.size(), hash,
                     num_samples_, replacement_);
}

DistributedSampler::DistributedSampler(const Dataset& data, const DistributedSamplerOptions& options)
    : DistributedSampler(whole_of(data, options.shuffle), options) {}

DistributedSampler::DistributedSampler(Any<Sampler> sampler, const DistributedSamplerOptions& options)
    : whole_(std::move(sampler)), options_(options) {
  const char* const where = "[DistributedSampler]";
  if (!whole_) fail<ValueError>(where, "sampler must be given; got an empty one");
  if (options.num_replicas < 1) {
    fail<ValueError>(where, "num_replicas must be 1 or more; got {}", options.num_replicas);
  }
  if (options.rank < 0 || options.rank >= options.num_replicas) {
    fail<ValueError>(where, "rank must lie in [0, {}); got {}", options.num_replicas, options.rank);
  }
  if (size() == 0) {
    fail<ValueError>(where, "with drop_last there must be a sample for each of {} processes; got {} samples",
                     options.num_replicas, whole_->size());
  }
}

std::int64_t DistributedSampler::size() const {
  const std::int64_t all = whole_->size();
  return all / options_.num_replicas + (!options_.drop_last && all % options_.num_replicas > 0 ? 1 : 0);
}

detail::SampleOrder DistributedSampler::order(std::int64_t epoch, std::uint64_t seed) const {
  return [whole = whole_->order(epoch, seed), count = whole_->size(), step = options_.num_replicas,
          first = options_.rank](std::int64_t position) { return whole((first + position * step) % count); };
}

std::string DistributedSampler::describe() const {
  return fmt::format("DistributedSampler({}, num_replicas = {}, drop_last = {})", whole_->describe(),
                     options_.num_replicas, options_.drop_last);
}

}  // namespace mezzo
