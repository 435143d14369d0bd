#include <mezzo/data/loader.hpp>

#include <numeric>
#include <string>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/data/batch_source.hpp>

namespace mezzo {
namespace {

void check_at_least(std::int64_t least, std::int64_t value, const char* option) {
  if (value < least) {
    fail<ValueError>("[DataLoader]", "{} must be {} or more; got {}", option, least, value);
  }
}

std::int64_t count_batches(std::int64_t samples, const DataLoaderOptions& options) {
  const std::int64_t whole = samples / options.batch_size;
  return whole + (!options.drop_last && samples % options.batch_size > 0 ? 1 : 0);
}

/// Permutation of 0 ... count - 1 that depends on seed and epoch alone.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const std::uint64_t key = mix(seed, key_of("DataLoader"));
  for (std::size_t i = order.size(); i-- > 1;) {
    const auto words = philox(key, i, static_cast<std::uint64_t>(epoch));
    const std::uint64_t word = (std::uint64_t{words[1]} << 32) | words[0];
    // The upper half of the product is uniform in [0, i] up to a bias of i / 2^64.
    const auto other = static_cast<std::size_t>((static_cast<unsigned __int128>(word) * (i + 1)) >> 64);
    std::swap(order[i], order[other]);
  }
  return order;
}

}  // namespace

BatchStream::BatchStream(std::unique_ptr<Source> source) : source_(std::move(source)) {}
BatchStream::BatchStream(BatchStream&&) noexcept = default;
BatchStream& BatchStream::operator=(BatchStream&&) noexcept = default;
BatchStream::~BatchStream() = default;

std::optional<HostBatch> BatchStream::next() {
  if (failure_) std::rethrow_exception(failure_);
  if (!source_) return std::nullopt;
  try {
    return source_->next();
  } catch (...) {
    failure_ = std::current_exception();
    source_.reset();
    throw;
  }
}

DataLoader::DataLoader(Dataset dataset, DataLoaderOptions options) : dataset_(std::move(dataset)), options_(options) {
  check_at_least(1, options_.batch_size, "batch_size");
  check_at_least(0, options_.workers, "workers");
  check_at_least(1, options_.prefetch, "prefetch");
  check_at_least(-1, options_.seed, "seed");
  if (dataset_.size() == 0) fail<ValueError>("[DataLoader]", "the data set must have samples; got 0");
  size_ = count_batches(dataset_.size(), options_);
  if (size_ == 0) {
    fail<ValueError>("[DataLoader]", "with drop_last, the data set must have at least batch_size = {} samples; got {}",
                     options_.batch_size, dataset_.size());
  }
  // Batches in the slots, one that each worker fills, and two that the consumer may hold.
  const auto workers = static_cast<std::size_t>(options_.workers);
  pool_ = std::make_shared<detail::BatchPool>(workers * static_cast<std::size_t>(options_.prefetch + 1) + 2);
}

DataLoader DataLoader::map(std::function<HostBatch(HostBatch, std::int64_t, std::int64_t)> function) const {
  if (empty()) fail<ValueError>("[DataLoader.map]", "the loader must have a data set; got an absent loader");
  if (!function) fail<ValueError>("[DataLoader.map]", "function must be given; got none");
  DataLoader mapped = *this;
  mapped.function_ = std::move(function);
  if (function_) {
    mapped.function_ = [first = function_, second = std::move(mapped.function_)](HostBatch batch, std::int64_t index,
                                                                                 std::int64_t epoch_number) {
      return second(first(std::move(batch), index, epoch_number), index, epoch_number);
    };
  }
  return mapped;
}

DataLoader DataLoader::with_dataset(Dataset dataset) const {
  DataLoader other(std::move(dataset), options_);
  other.function_ = function_;
  return other;
}

BatchStream DataLoader::epoch(std::int64_t epoch, std::int64_t first_batch) const {
  if (empty()) fail<ValueError>("[DataLoader]", "epoch() needs a loader with a data set; got an absent loader");
  check_at_least(0, epoch, "epoch");
  if (first_batch < 0 || first_batch > size_) {
    fail<ValueError>("[DataLoader]", "first_batch must lie in [0, {}]; got {}", size_, first_batch);
  }
  std::vector<std::int64_t> order;
  if (options_.shuffle) {
    const std::uint64_t key = options_.seed < 0 ? seed() : static_cast<std::uint64_t>(options_.seed);
    order = shuffled(dataset_.size(), key, epoch);
  } else {
    order.resize(static_cast<std::size_t>(dataset_.size()));
    std::iota(order.begin(), order.end(), std::int64_t{0});
  }
  detail::BatchPlan plan(dataset_.source_, pool_, std::move(order), options_.batch_size, epoch, function_);
  return BatchStream(
      detail::make_batch_source(std::move(plan), first_batch, size_, options_.workers, options_.prefetch));
}

}  // namespace mezzo
