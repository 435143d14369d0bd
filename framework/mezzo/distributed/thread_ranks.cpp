// Ranks that are threads of one process.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/distributed/communicator.hpp>

namespace mezzo {
namespace {

/// Meeting place of the ranks.
struct RankHub {
  explicit RankHub(int ranks)
      : posted(static_cast<std::size_t>(ranks)), ended(static_cast<std::size_t>(ranks)), arrived(posted.size()) {}

  /// First rank that has ended before it came to round `round`.
  std::optional<std::size_t> missing(std::uint64_t round) const {
    for (std::size_t i = 0; i < ended.size(); ++i) {
      if (arrived[i] < round && ended[i] && !ended[i]->empty()) return i;  // a failure, which may cause others
    }
    for (std::size_t i = 0; i < ended.size(); ++i) {
      if (arrived[i] < round && ended[i]) return i;
    }
    return {};
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const std::vector<detail::RankMemory>*> posted;  // memory that each rank sends in this round
  std::vector<std::optional<std::string>> ended;               // reasons of failures; "": the rank has left
  std::vector<std::uint64_t> arrived;                          // round of each rank, from 1
  std::size_t copied = 0;                                      // ranks that have copied in this round
  std::uint64_t finished = 0;                                  // rounds
};

class ThreadTransport final : public detail::Transport {
 public:
  ThreadTransport(std::shared_ptr<RankHub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}

  ~ThreadTransport() override { end(""); }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(hub_->posted.size()); }

  void exchange(const std::vector<detail::RankMemory>& send, const std::vector<detail::RankMemory>& receive,
                const std::atomic<bool>& cancelled) override {
    const auto self = static_cast<std::size_t>(rank_);
    const std::uint64_t round = ++round_;
    std::unique_lock<std::mutex> lock(hub_->mutex);
    hub_->posted[self] = &send;
    hub_->arrived[self] = round;
    hub_->changed.notify_all();
    while (!all_arrived(round)) {
      const auto missing = hub_->missing(round);
      if (missing || cancelled) hub_->arrived[self] = round - 1;  // `send` must not be read any more
      if (missing) fail_for(*missing);
      if (cancelled) mezzo::fail<RankError>("[Communicator]", "rank {} has failed", rank_);
      hub_->changed.wait_for(lock, std::chrono::milliseconds(20));  // `cancelled` wakes no thread
    }
    std::optional<std::size_t> wrong;
    for (std::size_t i = 0; i < receive.size(); ++i) {
      const detail::RankMemory& from = (*hub_->posted[i])[self];
      if (from.bytes != receive[i].bytes) {
        if (!wrong) wrong = i;
      } else if (from.bytes > 0 && from.data != receive[i].data) {
        std::memmove(receive[i].data, from.data, from.bytes);
      }
    }
    const std::size_t sent = wrong ? (*hub_->posted[*wrong])[self].bytes : 0;
    if (++hub_->copied == hub_->posted.size()) {
      hub_->copied = 0;
      hub_->finished = round;
      hub_->changed.notify_all();
    }
    hub_->changed.wait(lock, [&] { return hub_->finished >= round; });
    if (wrong) {
      mezzo::fail<RankError>("[Communicator]", "rank {} must send {} bytes to rank {}; got {}", *wrong,
                             receive[*wrong].bytes, rank_, sent);
    }
  }

  void fail(const std::string& reason) override { end(reason.empty() ? "unknown" : reason); }

 private:
  bool all_arrived(std::uint64_t round) const {
    for (const std::uint64_t one : hub_->arrived) {
      if (one < round) return false;
    }
    return true;
  }

  void end(const std::string& reason) {
    const std::lock_guard<std::mutex> lock(hub_->mutex);
    std::optional<std::string>& own = hub_->ended[static_cast<std::size_t>(rank_)];
    if (!own) own = reason;
    hub_->changed.notify_all();
  }

  [[noreturn]] void fail_for(std::size_t rank) const {
    const std::string& reason = *hub_->ended[rank];
    if (reason.empty()) {
      mezzo::fail<RankError>("[Communicator]", "rank {} has left while rank {} waited for it", rank, rank_);
    }
    mezzo::fail<RankError>("[Communicator]", "rank {} has failed: {}", rank, reason);
  }

  std::shared_ptr<RankHub> hub_;
  int rank_;
  std::uint64_t round_ = 0;
};

}  // namespace

std::vector<std::shared_ptr<Communicator>> Communicator::threads(int ranks) {
  if (ranks < 1) mezzo::fail<ValueError>("[Communicator]", "threads: ranks must be 1 or more; got {}", ranks);
  const auto hub = std::make_shared<RankHub>(ranks);
  std::vector<std::shared_ptr<Communicator>> out;
  for (int rank = 0; rank < ranks; ++rank) {
    out.push_back(std::make_shared<Communicator>(
        [&]() -> std::unique_ptr<detail::Transport> { return std::make_unique<ThreadTransport>(hub, rank); }));
  }
  return out;
}

}  // namespace mezzo
