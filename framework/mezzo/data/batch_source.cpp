#include <mezzo/data/batch_source.hpp>

#include <utility>

#include <fmt/format.h>

#include <mezzo/core/output.hpp>
#include <mezzo/core/random.hpp>

namespace mezzo {

detail::BatchStream::BatchStream(std::unique_ptr<Source> source) : source_(std::move(source)) {}
detail::BatchStream::BatchStream(detail::BatchStream&&) noexcept = default;
detail::BatchStream& detail::BatchStream::operator=(detail::BatchStream&&) noexcept = default;
detail::BatchStream::~BatchStream() = default;

template <class Call>
auto detail::BatchStream::guarded(Call&& call) {
  if (failure_) std::rethrow_exception(failure_);
  try {
    return call();
  } catch (...) {
    failure_ = std::current_exception();
    source_.reset();
    throw;
  }
}

std::optional<HostBatch> detail::BatchStream::next() {
  return guarded([&] { return source_ ? source_->next() : std::nullopt; });
}

const HostBatch* detail::BatchStream::peek() {
  return guarded([&] { return source_ ? source_->peek() : nullptr; });
}

namespace detail {

LoaderSource::LoaderSource(std::shared_ptr<IdleReaders> idle, const BatchPosition& start, std::int64_t count,
                           bool follows_seed)
    : idle_(std::move(idle)), first_epoch_(start.epoch), follows_seed_(follows_seed) {
  if (count > 0) reader_ = idle_->take(start, count);
}

LoaderSource::~LoaderSource() {
  try {
    if (skipped_ > 0) tell_of_skipped();
  } catch (...) {
    skipped_ = 0;  // a sink of the program's own may throw
  }
  if (reader_ != nullptr && !failed_) idle_->keep(std::move(reader_));
}

void LoaderSource::note_skipped(std::int64_t samples) {
  const std::string first = idle_->batching().skipped_samples().take_first();
  if (!first.empty()) warn(fmt::format("{}; the sample is skipped", first));
  skipped_ += samples;
}

void LoaderSource::tell_of_skipped() {
  warn(fmt::format("[DataLoader] {} samples of a pass could not be read and were skipped", std::exchange(skipped_, 0)));
}

void LoaderSource::take_new_seed() {
  const BatchPosition position = reader_->next_position();
  if (!follows_seed_ || position.batch != 0 || position.epoch == first_epoch_ || position.seed == seed()) return;
  reader_->run({.epoch = position.epoch, .batch = 0, .skipped = 0, .seed = seed()}, reader_->left());
}

std::optional<HostBatch> LoaderSource::next() {
  if (reader_ == nullptr) return std::nullopt;
  failed_ = true;
  take_new_seed();
  auto batch = reader_->next();
  failed_ = false;
  if (batch && batch->skipped > 0) note_skipped(batch->skipped);
  if (skipped_ > 0 && reader_->next_position().batch == 0) tell_of_skipped();
  if (reader_->left() == 0) idle_->keep(std::move(reader_));
  return batch;
}

const HostBatch* LoaderSource::peek() {
  if (reader_ == nullptr) return nullptr;
  failed_ = true;
  take_new_seed();
  const HostBatch* const batch = reader_->peek();
  failed_ = false;
  return batch;
}

}  // namespace detail
}  // namespace mezzo
