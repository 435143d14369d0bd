#include <mezzo/data/loader.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/data/batch_source.hpp>
#include <mezzo/data/combined_source.hpp>
#include <mezzo/data/iterable_reader.hpp>
#include <mezzo/data/sources.hpp>

namespace mezzo {
namespace {

void check_at_least(std::int64_t least, std::int64_t value, const char* option) {
  if (value < least) {
    fail<ValueError>("[DataLoader]", "{} must be {} or more; got {}", option, least, value);
  }
}

void check_ranges(const DataLoaderOptions& options) {
  check_at_least(1, options.batch_size, "batch_size");
  check_at_least(0, options.workers, "workers");
  check_at_least(1, options.prefetch, "prefetch");
  check_at_least(-1, options.seed, "seed");
  const std::vector<std::string> known{"raise", "skip"};
  if (std::find(known.begin(), known.end(), options.on_error) == known.end()) {
    fail_unknown("[DataLoader]", "on_error", options.on_error, known);
  }
}

/// The options with their sampler, or the default one.
DataLoaderOptions with_sampler(DataLoaderOptions options, const Dataset& dataset) {
  if (options.sampler) return options;
  options.sampler = options.shuffle ? Any<Sampler>(RandomSampler(dataset)) : Any<Sampler>(SequentialSampler(dataset));
  return options;
}

std::string text_of(const std::vector<Field>& fields) {
  std::vector<std::string> texts;
  for (const Field& field : fields) texts.push_back(fmt::format("{} {} {}", field.name, field.dtype, field.shape));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// The loaders of a combination in a fingerprint: all that positions depend on.
std::string combined_order(const CombinedLoader& combined) {
  std::vector<std::string> texts;
  for (const auto& [name, loader] : combined.loaders()) {
    const detail::LoaderFingerprint one = loader.fingerprint();
    texts.push_back(fmt::format("{}: {} samples, {}, in batches of {}{}", name, one.samples, one.order, one.batch_size,
                                one.drop_last ? ", drop_last" : ""));
  }
  return fmt::format("CombinedLoader {} ({})", combined.mode(), fmt::join(texts, "; "));
}

/// Order of an iterable data set. Parts produce batches in turn, so that the order depends on their size, too.
std::string iterable_order(const DataLoaderOptions& options) {
  const int parts = std::max(1, options.workers);
  const std::string batches = parts > 1 ? fmt::format(" in batches of {}", options.batch_size) : "";
  return fmt::format("IterableDataset, {} parts{}", parts, batches);
}

bool has_open_field(const std::vector<Field>& fields, const std::string& name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Field& field) { return field.name == name && detail::has_open_axis({field}); });
}

void check_padding(const DataLoaderOptions& options, const std::vector<Field>& fields) {
  const std::string where = "[DataLoader]";
  const std::vector<std::int64_t>& boundaries = options.bucket_boundaries;
  if (options.collate && (!boundaries.empty() || !options.padding_values.empty())) {
    fail<ValueError>(where, "collate can't be given together with bucket_boundaries or padding_values; got both");
  }
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    if (boundaries[i] > (i == 0 ? 0 : boundaries[i - 1])) continue;
    fail<ValueError>(where, "bucket_boundaries must be above 0 and ascend; got {}", fmt::join(boundaries, ", "));
  }
  if (!boundaries.empty() && !detail::has_open_axis(fields)) {
    fail<ValueError>(where, "bucket_boundaries need a field with an open axis; got {}", text_of(fields));
  }
  for (const auto& entry : options.padding_values) {
    if (has_open_field(fields, entry.first)) continue;
    fail<ValueError>(where, "padding_values need fields with an open axis; got \"{}\"", entry.first);
  }
  if (!options.group_by_length) return;
  if (boundaries.empty()) fail<ValueError>(where, "group_by_length needs bucket_boundaries; got none");
  if (options.sampler) fail<ValueError>(where, "only one of group_by_length and sampler must be given; got both");
}

}  // namespace

std::string detail::LoaderFingerprint::differences(const detail::LoaderFingerprint& before, bool by_samples) const {
  std::vector<std::string> texts;
  const auto compare = [&](const char* name, const auto& now, const auto& then) {
    if (now != then) texts.push_back(fmt::format("{} {}, was {}", name, now, then));
  };
  compare("number of samples", samples, before.samples);
  compare("fields", fields, before.fields);
  compare("order", order, before.order);
  if (!by_samples) {
    compare("batch_size", batch_size, before.batch_size);
    compare("drop_last", drop_last, before.drop_last);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

DataLoader::DataLoader(Dataset dataset, DataLoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  check_ranges(options_);
  if (options_.sampler && options_.shuffle) {
    fail<ValueError>("[DataLoader]", "only one of sampler and shuffle must be given; got both");
  }
  if (dataset_.size() == 0) fail<ValueError>("[DataLoader]", "the data set must have samples; got 0");
  check_padding(options_, dataset_.fields());
  const DataLoaderOptions complete = with_sampler(options_, dataset_);
  auto batching = std::make_shared<const detail::Batching>(dataset_.source_, complete, nullptr);
  size_ = batching->size();
  samples_ = complete.sampler->size();
  idle_ = std::make_shared<detail::IdleReaders>(std::move(batching), options_.workers, options_.prefetch);
}

DataLoader::DataLoader(IterableDataset data, DataLoaderOptions options) : options_(std::move(options)) {
  check_ranges(options_);
  check_padding(options_, data.fields());
  if (options_.shuffle || options_.sampler || options_.group_by_length) {
    fail<ValueError>("[DataLoader]", "an iterable data set has its own order; got {}",
                     options_.shuffle   ? "shuffle"
                     : options_.sampler ? "sampler"
                                        : "group_by_length");
  }
  if (options_.on_error != "raise") {
    fail<ValueError>(
        "[DataLoader]",
        "on_error must be \"raise\" for an iterable data set, whose generator may skip samples itself; got "
        "\"{}\"",
        options_.on_error);
  }
  if (options_.workers > 1 && !data.has_parts()) {
    fail<ValueError>("[DataLoader]", "workers must be at most 1 for an iterable data set without part_function; got {}",
                     options_.workers);
  }
  iterable_ = std::make_shared<detail::IdleIterable>(std::make_shared<const detail::IterableBatching>(
      detail::IterableBatching{.data = std::move(data), .options = options_, .function = nullptr}));
}

DataLoader::DataLoader(const CombinedLoader& loaders) : combined_(std::make_shared<const CombinedLoader>(loaders)) {
  size_ = loaders.size();
  for (const auto& [name, loader] : loaders.loaders()) samples_ += loader.samples();
}

std::int64_t DataLoader::skipped_samples() const {
  if (idle_) return idle_->batching().skipped();
  if (!combined_) return 0;
  std::int64_t sum = 0;
  for (const auto& [name, loader] : combined_->loaders()) sum += loader.skipped_samples();
  return sum;
}

void DataLoader::require_single(const char* where) const {
  require_size(where);
  if (!combined_) return;
  fail<ValueError>("[DataLoader]", "{} needs a loader of one data set; got a CombinedLoader", where);
}

void DataLoader::require_size(const char* where) const {
  if (sized()) return;
  fail<ValueError>("[DataLoader]", "{} needs a data set of known size; got an iterable one", where);
}

std::int64_t DataLoader::size() const {
  require_size("size()");
  return size_;
}

std::int64_t DataLoader::samples() const {
  require_size("samples()");
  return samples_;
}

void DataLoader::require_data(const char* where) const {
  if (empty()) fail<ValueError>("[DataLoader]", "{} needs a loader with a data set; got an absent loader", where);
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
  if (combined_) return mapped;
  if (iterable_) {
    mapped.iterable_ = std::make_shared<detail::IdleIterable>(
        std::make_shared<const detail::IterableBatching>(detail::IterableBatching{
            .data = iterable_->batching().data, .options = options_, .function = mapped.function_}));
    return mapped;
  }
  mapped.renew_readers();
  return mapped;
}

void DataLoader::renew_readers() {
  auto batching = std::make_shared<const detail::Batching>(dataset_.source_, with_sampler(options_, dataset_),
                                                           function_, rank_, ranks_);
  size_ = batching->size();
  idle_ = std::make_shared<detail::IdleReaders>(std::move(batching), options_.workers, options_.prefetch);
}

DataLoader DataLoader::part(std::int64_t rank, std::int64_t ranks) const {
  const char* const where = "[DataLoader.part]";
  require_data("part()");
  require_single("part()");
  if (rank < 0 || rank >= ranks) fail<ValueError>(where, "rank must lie in [0, {}); got {}", ranks, rank);
  if (ranks_ > 1) fail<ValueError>(where, "the loader must be whole; got part {} of {}", rank_, ranks_);
  if (options_.group_by_length) fail<ValueError>(where, "group_by_length can't be divided among ranks; got it");
  // A rank that leaves samples out would change the other ranks' places in the joined batch.
  if (options_.on_error == "skip") fail<ValueError>(where, "on_error must be \"raise\"; got \"skip\"");
  DataLoader out = *this;
  out.options_.batch_size *= ranks;
  out.rank_ = rank;
  out.ranks_ = ranks;
  out.renew_readers();
  return out;
}

DataLoader& DataLoader::with_functions_of(const DataLoader& other) {
  function_ = other.function_;
  rank_ = other.rank_;
  ranks_ = other.ranks_;
  if (function_ || ranks_ > 1) renew_readers();
  return *this;
}

DataLoader DataLoader::with_dataset(Dataset dataset) const {
  require_single("with_dataset()");
  if (options_.sampler && dataset.size() != dataset_.size()) {
    fail<ValueError>("[DataLoader.with_dataset]", "with a sampler the data set must have {} samples; got {}",
                     dataset_.size(), dataset.size());
  }
  DataLoader other(std::move(dataset), options_);
  return other.with_functions_of(*this);
}

DataLoader DataLoader::with_batch_size(std::int64_t batch_size) const {
  require_single("with_batch_size()");
  DataLoaderOptions options = options_;
  options.batch_size = batch_size;
  DataLoader other(dataset_, std::move(options));
  return other.with_functions_of(*this);
}

std::uint64_t DataLoader::order_seed() const {
  if (!options_.sampler && !options_.shuffle) return 0;
  return options_.seed < 0 ? seed() : static_cast<std::uint64_t>(options_.seed);
}

detail::BatchStream DataLoader::epoch(std::int64_t epoch, std::int64_t first_batch) const {
  require_data("epoch()");
  check_at_least(0, epoch, "epoch");
  if (iterable_) {
    check_at_least(0, first_batch, "first_batch");
    detail::BatchStream stream(std::make_unique<detail::IterableSource>(
        iterable_, detail::LoaderPosition{.epoch = epoch, .samples = 0}, std::numeric_limits<std::int64_t>::max()));
    for (std::int64_t i = 0; i < first_batch; ++i) stream.next();
    return stream;
  }
  if (first_batch < 0 || first_batch > size_) {
    fail<ValueError>("[DataLoader]", "first_batch must lie in [0, {}]; got {}", size_, first_batch);
  }
  return pass(epoch, first_batch, size_ - first_batch);
}

detail::BatchStream DataLoader::pass(std::int64_t epoch, std::int64_t first_batch, std::int64_t count) const {
  if (combined_) {
    const detail::LoaderPosition from{.epoch = epoch, .samples = 0, .batches = first_batch};
    return detail::BatchStream(std::make_unique<detail::CombinedSource>(combined_, function_, from, count));
  }
  const detail::BatchPosition start{.epoch = epoch, .batch = first_batch, .skipped = 0, .seed = order_seed()};
  return detail::BatchStream(std::make_unique<detail::LoaderSource>(idle_, start, count, false));
}

detail::BatchStream DataLoader::stream(const detail::LoaderPosition& from, std::int64_t count) const {
  require_data("stream()");
  check_at_least(0, from.epoch, "epoch");
  check_at_least(0, count, "count");
  if (iterable_) {
    check_at_least(0, from.samples, "samples of a position");
    return detail::BatchStream(std::make_unique<detail::IterableSource>(iterable_, from, count));
  }
  if (combined_) {
    if (from.batches < 0 || from.batches >= size_) {
      fail<ValueError>("[DataLoader]", "batches of a position must lie in [0, {}); got {}", size_, from.batches);
    }
    return detail::BatchStream(std::make_unique<detail::CombinedSource>(combined_, function_, from, count));
  }
  if (from.samples < 0 || from.samples >= samples_) {
    fail<ValueError>("[DataLoader]", "samples of a position must lie in [0, {}); got {}", samples_, from.samples);
  }
  detail::BatchPosition start = idle_->batching().find(from.epoch, from.samples, order_seed());
  if (start.batch == size_) {  // the samples that drop_last leaves out
    start = {.epoch = from.epoch + 1, .batch = 0, .skipped = 0, .seed = start.seed};
  }
  const bool follows_seed = options_.seed < 0 && (options_.shuffle || options_.sampler);
  return detail::BatchStream(std::make_unique<detail::LoaderSource>(idle_, start, count, follows_seed));
}

detail::LoaderFingerprint DataLoader::fingerprint() const {
  require_data("fingerprint()");
  if (combined_) {
    std::vector<std::string> fields;
    for (const auto& [name, loader] : combined_->loaders()) {
      fields.push_back(fmt::format("{}: {}", name, loader.fingerprint().fields));
    }
    return {.samples = samples_,
            .fields = fmt::format("{}", fmt::join(fields, "; ")),
            .order = combined_order(*combined_),
            .batch_size = options_.batch_size,
            .drop_last = false};
  }
  if (iterable_) {
    return {.samples = 0,
            .fields = text_of(iterable_->batching().data.fields()),
            .order = iterable_order(options_),
            .batch_size = options_.batch_size,
            .drop_last = options_.drop_last};
  }
  const DataLoaderOptions complete = with_sampler(options_, dataset_);
  const bool random = options_.shuffle || options_.sampler;
  const std::string seed_text = random && options_.seed >= 0 ? fmt::format(", seed {}", options_.seed) : "";
  const std::string grouping = !options_.group_by_length
                                   ? ""
                                   : fmt::format(", in batches of {} by length up to {}", options_.batch_size,
                                                 fmt::join(options_.bucket_boundaries, ", "));
  return {.samples = dataset_.size(),
          .fields = text_of(dataset_.fields()),
          .order = complete.sampler->describe() + seed_text + grouping,
          .batch_size = options_.batch_size,
          .drop_last = options_.drop_last};
}

}  // namespace mezzo
