#include <mezzo/data/combined_source.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <mezzo/data/collate.hpp>

namespace mezzo::detail {

CombinedSource::CombinedSource(std::shared_ptr<const CombinedLoader> combined, BatchFunction function,
                               const LoaderPosition& from, std::int64_t count)
    : combined_(std::move(combined)),
      function_(std::move(function)),
      size_(combined_->size()),
      epoch_(from.epoch),
      batch_(from.batches),
      left_(count),
      streams_(combined_->loaders().size()) {}

std::optional<CombinedSource::Turn> CombinedSource::turn_of(std::size_t loader) const {
  const std::int64_t own = combined_->loaders()[loader].second.size();
  const std::int64_t rest = std::min(size_ - batch_, left_);
  if (combined_->mode() == "sequential") {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < loader; ++i) before += combined_->loaders()[i].second.size();
    const std::int64_t batch = batch_ - before;
    if (batch < 0 || batch >= own) return {};
    return Turn{.epoch = epoch_, .batch = batch, .left = std::min(own - batch, rest)};
  }
  if (combined_->mode() == "max_size_cycle") {
    const std::int64_t cycles = (size_ + own - 1) / own, batch = batch_ % own;
    return Turn{.epoch = epoch_ * cycles + batch_ / own, .batch = batch, .left = std::min(own - batch, rest)};
  }
  if (batch_ >= own) return {};
  return Turn{.epoch = epoch_, .batch = batch_, .left = std::min(own - batch_, rest)};
}

BatchStream& CombinedSource::stream_of(std::size_t loader, const Turn& turn) {
  std::optional<Opened>& opened = streams_[loader];
  if (!opened || opened->epoch != turn.epoch) {
    opened.reset();  // its threads go to the new one
    opened.emplace(Opened{combined_->loaders()[loader].second.pass(turn.epoch, turn.batch, turn.left), turn.epoch});
  }
  return opened->stream;
}

void CombinedSource::add(const HostBatch& part, std::size_t loader, HostBatch& whole) const {
  if (whole.fields.empty()) whole.size = part.size;
  whole.skipped += part.skipped;
  const bool plain = combined_->mode() == "sequential";
  const std::string prefix = plain ? "" : combined_->loaders()[loader].first + "/";
  for (const NamedTensor& field : part.fields) {
    whole.fields.push_back({.name = prefix + field.name, .tensor = field.tensor, .role = field.role});
  }
}

HostBatch CombinedSource::mapped(HostBatch whole) const {
  return function_ ? map_batch(function_, std::move(whole), batch_, epoch_) : whole;
}

std::optional<HostBatch> CombinedSource::next() {
  if (left_ == 0) return std::nullopt;
  HostBatch whole;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::optional<Turn> turn = turn_of(i);
    if (!turn) continue;
    const std::optional<HostBatch> part = stream_of(i, *turn).next();
    if (!peeked_) add(*part, i, whole);
  }
  whole = peeked_ ? *std::exchange(peeked_, std::nullopt) : mapped(std::move(whole));
  --left_;
  if (++batch_ == size_) {
    batch_ = 0;
    ++epoch_;
    for (auto& stream : streams_) stream.reset();
  }
  return whole;
}

const HostBatch* CombinedSource::peek() {
  if (left_ == 0) return nullptr;
  if (peeked_) return &*peeked_;
  HostBatch whole;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::optional<Turn> turn = turn_of(i);
    if (turn) add(*stream_of(i, *turn).peek(), i, whole);
  }
  peeked_ = mapped(std::move(whole));
  return &*peeked_;
}

}  // namespace mezzo::detail
