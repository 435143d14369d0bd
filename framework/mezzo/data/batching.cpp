#include <mezzo/data/batching.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/gather.hpp>
#include <mezzo/data/sources.hpp>

namespace mezzo::detail {
namespace {

/// Batches in the slots, one that each worker fills, and two that the consumer may hold.
std::size_t pool_capacity(const DataLoaderOptions& options) {
  return static_cast<std::size_t>(options.workers) * static_cast<std::size_t>(options.prefetch + 1) + 2;
}

}  // namespace

Batching::Batching(std::shared_ptr<const DatasetSource> source, const DataLoaderOptions& options,
                   BatchFunction function, std::int64_t rank, std::int64_t ranks)
    : source_(std::move(source)),
      sampler_(options.sampler),
      batch_size_(options.batch_size),
      samples_(sampler_->size()),
      rank_(rank),
      ranks_(ranks),
      drop_last_(options.drop_last),
      grouped_(options.group_by_length),
      open_(has_open_axis(source_->fields())),
      skips_(options.on_error == "skip"),
      padding_{.values = options.padding_values, .boundaries = options.bucket_boundaries},
      collate_(options.collate),
      function_(std::move(function)),
      pool_(pool_capacity(options)) {
  if (samples_ < 1) fail<ValueError>("[DataLoader]", "size() of the sampler must be 1 or more; got {}", samples_);
  size_ = grouped_ ? count_grouped() : count_batches(samples_);
  if (size_ == 0) {
    fail<ValueError>("[DataLoader]",
                     "with drop_last, the data set must have at least batch_size = {} samples{}; got {}", batch_size_,
                     grouped_ ? " of one bucket" : "", samples_);
  }
}

std::int64_t Batching::count_batches(std::int64_t samples) const {
  return samples / batch_size_ + (!drop_last_ && samples % batch_size_ > 0 ? 1 : 0);
}

std::size_t Batching::bucket(std::int64_t index) const {
  const std::string where = fmt::format("[DataLoader] sample {}:", index);
  const std::int64_t length = source_->length(index);
  if (length < 0) {
    fail<ValueError>(where, "group_by_length needs lengths that are known without reading, by length(); got none");
  }
  return bucket_of(length, padding_.boundaries, where);
}

std::int64_t Batching::count_grouped() const {
  std::vector<std::int64_t> samples(padding_.boundaries.size());
  for (std::int64_t i = 0; i < source_->size(); ++i) ++samples[bucket(i)];
  std::int64_t batches = 0;
  for (const std::int64_t count : samples) batches += count_batches(count);
  return batches;
}

Batching::Layout Batching::make_layout(std::int64_t epoch, std::uint64_t seed) const {
  SampleOrder order = sampler_->order(epoch, seed);
  if (!grouped_) return {.order = std::move(order), .starts = {}};
  std::vector<std::int64_t> samples, starts{0};
  std::vector<std::vector<std::int64_t>> waiting(padding_.boundaries.size());
  const auto end_batch = [&](std::vector<std::int64_t>& batch) {
    samples.insert(samples.end(), batch.begin(), batch.end());
    starts.push_back(static_cast<std::int64_t>(samples.size()));
    batch.clear();
  };
  for (std::int64_t i = 0; i < samples_; ++i) {
    const std::int64_t index = order(i);
    std::vector<std::int64_t>& batch = waiting[bucket(index)];
    batch.push_back(index);
    if (static_cast<std::int64_t>(batch.size()) == batch_size_) end_batch(batch);
  }
  for (std::vector<std::int64_t>& batch : waiting) {
    if (!batch.empty() && !drop_last_) end_batch(batch);
  }
  auto shared = std::make_shared<const std::vector<std::int64_t>>(std::move(samples));
  return {.order = [shared](std::int64_t position) { return (*shared)[static_cast<std::size_t>(position)]; },
          .starts = std::move(starts)};
}

BatchPosition Batching::find(std::int64_t epoch, std::int64_t sample, std::uint64_t seed) const {
  if (!grouped_) {
    return {.epoch = epoch, .batch = sample / batch_size_, .skipped = sample % batch_size_, .seed = seed};
  }
  const auto in_epoch = layout(epoch, seed);
  const std::vector<std::int64_t>& starts = in_epoch->starts;
  const auto batch = std::upper_bound(starts.begin(), starts.end(), sample) - starts.begin() - 1;
  return {.epoch = epoch, .batch = batch, .skipped = sample - starts[static_cast<std::size_t>(batch)], .seed = seed};
}

BatchPosition Batching::after(const BatchPosition& position, std::int64_t count) const {
  if (count == 0) return position;
  const std::int64_t batch = position.batch + count;
  return {.epoch = position.epoch + batch / size_, .batch = batch % size_, .skipped = 0, .seed = position.seed};
}

std::shared_ptr<const Batching::Layout> Batching::layout(std::int64_t epoch, std::uint64_t seed) const {
  const std::unique_lock<std::mutex> lock = lock_soon(layouts_mutex_);
  for (const KeptLayout& kept : layouts_) {
    if (lock && kept.epoch == epoch && kept.seed == seed) return kept.layout;
  }
  auto made = std::make_shared<const Layout>(make_layout(epoch, seed));
  if (!lock) return made;
  constexpr std::size_t most = 2;  // workers go from one epoch to the next
  if (layouts_.size() == most) layouts_.pop_front();
  layouts_.push_back({epoch, seed, made});
  return made;
}

std::vector<std::int64_t> Batching::indices(const BatchPosition& position) const {
  const auto in_epoch = layout(position.epoch, position.seed);
  std::int64_t begin = position.batch * batch_size_, end = std::min(begin + batch_size_, samples_);
  if (grouped_) {
    begin = in_epoch->starts[static_cast<std::size_t>(position.batch)];
    end = in_epoch->starts[static_cast<std::size_t>(position.batch) + 1];
  }
  const std::int64_t count = source_->size();
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(end - begin));
  for (std::int64_t i = begin + position.skipped; i < end; ++i) {
    const std::int64_t index = in_epoch->order(i);
    if (index < 0 || index >= count) {
      fail<ValueError>("[DataLoader]", "the sampler's indices must lie in [0, {}); got {} at position {}", count, index,
                       i);
    }
    out.push_back(index);
  }
  return out;
}

BatchPart Batching::part_of(std::int64_t samples) const {
  const std::int64_t least = samples / ranks_, more = samples % ranks_;
  return {.first = least * rank_ + std::min(rank_, more), .size = least + (rank_ < more ? 1 : 0), .whole = samples};
}

HostBatch Batching::load(const BatchPosition& position) const {
  std::vector<std::int64_t> samples = indices(position);
  const BatchPart part = part_of(static_cast<std::int64_t>(samples.size()));
  if (ranks_ > 1) {
    // A rank without samples takes the last one, so that its step has a batch.
    const std::int64_t first = std::min(part.first, part.whole - 1);
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(first);
    samples = {begin, begin + static_cast<std::ptrdiff_t>(std::max<std::int64_t>(part.size, 1))};
  }
  HostBatch out = read(samples, position);
  if (function_) out = map_batch(function_, std::move(out), position.batch, position.epoch);
  if (ranks_ > 1) out.part = part;
  return out;
}

HostBatch Batching::read(const std::vector<std::int64_t>& samples, const BatchPosition& position) const {
  constexpr const char* where = "[DataLoader]";
  SkippedSamples* const skipped = skips_ ? &skipped_ : nullptr;
  const auto asked = static_cast<std::int64_t>(samples.size());
  if (collate_) {
    const std::vector<DatasetSample> read = read_samples(*source_, samples, position.epoch, where, skipped);
    try {
      HostBatch out = collate_with(collate_, read);
      out.skipped = asked - out.size;
      return out;
    } catch (...) {
      rethrow_with(fmt::format("[DataLoader] batch {}: ", position.batch));
    }
  }
  HostBatch out = pool_.take(asked);
  if (open_) {
    collate_padded(source_->fields(), read_samples(*source_, samples, position.epoch, where, skipped), padding_, where,
                   out);
    out.skipped = asked - out.size;
  } else {
    gather(*source_, samples, position.epoch, where, out, skipped);
  }
  pool_.remember(out);
  return out;
}

}  // namespace mezzo::detail
