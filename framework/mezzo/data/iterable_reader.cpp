#include <mezzo/data/iterable_reader.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>
#include <mezzo/data/collate.hpp>
#include <mezzo/data/gather.hpp>
#include <mezzo/data/sources.hpp>

namespace mezzo {

IterableDataset::IterableDataset(IterableDatasetOptions options) : options_(std::move(options)) {
  detail::check_fields(options_.fields);
  if ((options_.function != nullptr) == (options_.part_function != nullptr)) {
    fail<ValueError>("[IterableDataset]", "one of function and part_function must be given; got {}",
                     options_.function ? "both" : "neither");
  }
}

detail::SampleGenerator IterableDataset::start(const detail::IterablePart& part) const {
  detail::SampleGenerator generator = has_parts() ? options_.part_function(part) : options_.function(part.epoch);
  if (!generator) fail<ValueError>("[IterableDataset]", "the function must return a generator; got an empty one");
  return generator;
}

namespace detail {
namespace {

constexpr const char* loader_label = "[DataLoader]";
constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();

DatasetSample checked(const std::vector<Field>& fields, std::vector<Tensor> tensors) {
  if (tensors.size() != fields.size()) {
    fail<ValueError>("", "the generator must return {} tensors, one per field; got {}", fields.size(), tensors.size());
  }
  DatasetSample out;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, shape, dtype, role] = fields[i];
    if (tensors[i].dtype() != dtype || !fits(tensors[i].shape(), shape)) {
      fail<ShapeError>("", "field \"{}\" must be {} {}; got {}", name, dtype, shape, tensors[i]);
    }
    out.push_back({.name = name, .tensor = std::move(tensors[i]), .role = role});
  }
  return out;
}

/// The samples of a batch from `first` on.
HostBatch cut(const HostBatch& batch, std::int64_t first) {
  HostBatch out{.fields = batch.fields, .size = batch.size - first};
  for (NamedTensor& field : out.fields) field.tensor = field.tensor.slice(first, batch.size);
  return out;
}

}  // namespace

IterableReader::IterableReader(std::shared_ptr<const IterableBatching> batching, std::int64_t epoch)
    : batching_(std::move(batching)), epoch_(epoch), depth_(fork_depth()) {
  const int count = std::max(1, batching_->options.workers);
  for (int i = 0; i < count; ++i) {
    parts_.emplace_back().generator = batching_->data.start({.epoch = epoch, .index = i, .count = count});
  }
  if (batching_->options.workers == 0) return;
  threads_ = std::make_unique<BatchWorkers>(static_cast<std::size_t>(count) *
                                            static_cast<std::size_t>(batching_->options.prefetch));
  threads_->run([this](std::int64_t number) { return load(number); }, 0, unlimited, count);
}

IterableReader::~IterableReader() {
  if (threads_ != nullptr && depth_ != fork_depth()) (void)threads_.release();
}

HostBatch IterableReader::load(std::int64_t number) {
  const auto count = static_cast<std::int64_t>(parts_.size());
  Part& part = parts_[static_cast<std::size_t>(number % count)];
  std::unique_lock lock(part.mutex);
  part.turn.wait(lock, [&] { return part.next == number / count; });
  HostBatch batch;
  try {
    if (!part.ended) batch = read(part, number);
  } catch (...) {
    part.ended = true;
    ++part.next;
    part.turn.notify_all();
    throw;
  }
  ++part.next;
  part.turn.notify_all();
  return batch;
}

HostBatch IterableReader::read(Part& part, std::int64_t number) const {
  const DataLoaderOptions& options = batching_->options;
  std::vector<DatasetSample> samples;
  try {
    while (static_cast<std::int64_t>(samples.size()) < options.batch_size) {
      auto tensors = part.generator();
      if (!tensors) {
        part.ended = true;
        break;
      }
      samples.push_back(checked(batching_->data.fields(), *std::move(tensors)));
    }
  } catch (...) {
    rethrow_with(fmt::format("{} batch {}: ", loader_label, number));
  }
  const bool whole = static_cast<std::int64_t>(samples.size()) == options.batch_size;
  if (samples.empty() || (options.drop_last && !whole)) return {};
  HostBatch out;
  try {
    if (options.collate) {
      out = collate_with(options.collate, samples);
    } else {
      const BatchPadding padding{.values = options.padding_values, .boundaries = options.bucket_boundaries};
      collate_padded(batching_->data.fields(), samples, padding, "", out);
    }
  } catch (...) {
    rethrow_with(fmt::format("{} batch {}: ", loader_label, number));
  }
  return batching_->function ? map_batch(batching_->function, std::move(out), number, epoch_) : out;
}

void IterableReader::fill() {
  if (depth_ != fork_depth()) {
    fail<Error>(loader_label,
                "a stream of an iterable data set can't go on in a child process; got a call after fork()");
  }
  while (!peeked_ && empty_ < static_cast<std::int64_t>(parts_.size())) {
    HostBatch batch = threads_ != nullptr ? threads_->next() : load(loaded_);
    ++loaded_;
    empty_ = batch.size == 0 ? empty_ + 1 : 0;
    if (batch.size > 0) peeked_ = std::move(batch);
  }
}

const HostBatch* IterableReader::peek() {
  fill();
  return peeked_ ? &*peeked_ : nullptr;
}

std::optional<HostBatch> IterableReader::next() {
  fill();
  if (peeked_) samples_ += peeked_->size;
  return std::exchange(peeked_, std::nullopt);
}

void IterableReader::skip(std::int64_t samples) {
  while (samples_ < samples) {
    const HostBatch* const batch = peek();
    if (batch == nullptr) {
      fail<ValueError>(loader_label, "samples of a position must be at most {}, those of the epoch; got {}", samples_,
                       samples);
    }
    const std::int64_t wanted = samples - samples_;
    if (batch->size > wanted) {
      peeked_ = cut(*batch, wanted);
      samples_ = samples;
    } else {
      next();
    }
  }
}

void IterableReader::pause() {
  if (threads_ != nullptr && depth_ == fork_depth()) threads_->pause();
}

void IterableReader::go_on() {
  if (threads_ != nullptr && depth_ == fork_depth()) threads_->go_on(unlimited, static_cast<int>(parts_.size()));
}

std::unique_ptr<IterableReader> IdleIterable::take(const LoaderPosition& from) {
  std::unique_ptr<IterableReader> reader;
  if (const auto lock = lock_soon(mutex_)) {
    if (kept_ != nullptr && kept_->epoch() == from.epoch && kept_->samples() == from.samples) reader = std::move(kept_);
  }
  if (reader != nullptr) {
    reader->go_on();
    return reader;
  }
  reader = std::make_unique<IterableReader>(batching_, from.epoch);
  reader->skip(from.samples);
  return reader;
}

void IdleIterable::keep(std::unique_ptr<IterableReader> reader) {
  reader->pause();
  if (const auto lock = lock_soon(mutex_)) kept_ = std::move(reader);
}

IterableSource::IterableSource(std::shared_ptr<IdleIterable> idle, const LoaderPosition& from, std::int64_t count)
    : idle_(std::move(idle)), left_(count) {
  if (count > 0) reader_ = idle_->take(from);
}

IterableSource::~IterableSource() {
  if (reader_ != nullptr && !failed_) idle_->keep(std::move(reader_));
}

std::optional<HostBatch> IterableSource::next() {
  if (left_ == 0) return std::nullopt;
  failed_ = true;
  auto batch = reader_->next();
  failed_ = !batch;  // an epoch that has ended can't continue
  left_ = batch ? left_ - 1 : 0;
  return batch;
}

const HostBatch* IterableSource::peek() {
  if (left_ == 0) return nullptr;
  failed_ = true;
  const HostBatch* const batch = reader_->peek();
  failed_ = false;
  return batch;
}

}  // namespace detail
}  // namespace mezzo
