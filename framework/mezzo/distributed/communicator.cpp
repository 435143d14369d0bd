#include <mezzo/distributed/communicator.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/distributed/communication_thread.hpp>
#include <mezzo/distributed/reduce.hpp>

namespace mezzo {
namespace {

using Parts = std::vector<detail::RankMemory>;

std::byte* at(const RankArray& x, std::int64_t element) {
  return static_cast<std::byte*>(x.data) + static_cast<std::size_t>(element) * dtype_size(x.dtype);
}

detail::RankMemory memory(const RankArray& x) {
  return {x.data, static_cast<std::size_t>(x.size) * dtype_size(x.dtype)};
}

/// Memory of the thread that runs operations, kept between them: new pages cost more than a sum.
std::byte* scratch(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte[]> memory;  // NOLINT(modernize-avoid-c-arrays): not initialized
  thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset(new std::byte[bytes]);
    size = bytes;
  }
  return memory.get();
}

/// Memory that receives `bytes` from each rank, and addresses of these parts. The own part stays where it is.
Parts received_parts(const detail::RankMemory& own, int rank, int ranks, std::vector<const std::byte*>& parts) {
  std::byte* place = scratch(own.bytes * static_cast<std::size_t>(ranks));
  Parts receive;
  for (int i = 0; i < ranks; ++i, place += own.bytes) {
    receive.push_back(i == rank ? own : detail::RankMemory{place, own.bytes});
    parts.push_back(static_cast<const std::byte*>(receive.back().data));
  }
  return receive;
}

/// Sends each part to its rank, and returns the addresses of all ranks' numbers for this rank's part.
std::vector<const std::byte*> exchange_parts(detail::Transport& transport, const std::vector<RankArray>& parts,
                                             const std::atomic<bool>& cancelled) {
  Parts send;
  for (const RankArray& part : parts) send.push_back(memory(part));
  std::vector<const std::byte*> received;
  const detail::RankMemory own = send[static_cast<std::size_t>(transport.rank())];
  const Parts receive = received_parts(own, transport.rank(), transport.size(), received);
  transport.exchange(send, receive, cancelled);
  return received;
}

void require_bfloat16(DType dtype) {
  if (dtype != DType::bfloat16) mezzo::fail<DTypeError>("[Communicator]", "dtype must be bfloat16; got {}", dtype);
}

/// Size in bytes up to which an all_reduce sends all elements of each rank to all others: one exchange in place of two.
constexpr std::size_t small = 4096;

}  // namespace

struct RankRequest::State {
  std::shared_ptr<detail::Completion> completion;
};

void RankRequest::wait() const {
  if (state_) state_->completion->wait();
}

bool RankRequest::done() const { return !state_ || state_->completion->done(); }

std::chrono::steady_clock::time_point RankRequest::end() const { return state_->completion->end(); }

Communicator::Communicator() = default;

Communicator::Communicator(const std::function<std::unique_ptr<detail::Transport>()>& make)
    : thread_(std::make_unique<detail::CommunicationThread>(make)) {
  const detail::Transport& transport = thread_->transport();
  rank_ = transport.rank();
  size_ = transport.size();
  local_rank_ = transport.local_rank();
  local_size_ = transport.local_size();
}

Communicator::~Communicator() = default;

std::shared_ptr<Communicator> Communicator::single() {
  return std::shared_ptr<Communicator>(new Communicator());  // NOLINT(cppcoreguidelines-owning-memory)
}

RankRequest Communicator::start(std::function<void(detail::Transport&)> operation) {
  auto state = std::make_shared<RankRequest::State>();
  state->completion = thread_->start(std::move(operation));
  return RankRequest(std::move(state));
}

void Communicator::fail(const std::string& reason) {
  if (thread_) thread_->fail(reason);
}

void Communicator::barrier() {
  if (size_ == 1) return;
  const Parts none(static_cast<std::size_t>(size_));
  start([&](detail::Transport& transport) { transport.exchange(none, none, thread_->cancelled()); }).wait();
}

std::vector<RankArray> Communicator::parts_of(const RankArray& x) const {
  std::vector<RankArray> parts;
  for (int rank = 0; rank < size_; ++rank) {
    const std::int64_t begin = part_begin(x.size, rank);
    parts.push_back({at(x, begin), part_begin(x.size, rank + 1) - begin, x.dtype});
  }
  return parts;
}

void Communicator::require_parts(const std::vector<RankArray>& parts) const {
  if (parts.size() == static_cast<std::size_t>(size_)) return;
  mezzo::fail<ValueError>("[Communicator]", "there must be one part for each of {} ranks; got {}", size_, parts.size());
}

void Communicator::require_rank(int root) const {
  if (root >= 0 && root < size_) return;
  mezzo::fail<ValueError>("[Communicator]", "root must lie in [0, {}); got {}", size_, root);
}

RankRequest Communicator::start_reduce_scatter(const std::vector<RankArray>& parts, ReduceOp op) {
  require_parts(parts);
  for (const RankArray& part : parts) detail::require_reducible(part.dtype);
  if (size_ == 1) return {};
  return start([this, parts, op](detail::Transport& transport) {
    const RankArray& own = parts[static_cast<std::size_t>(rank_)];
    const std::vector<const std::byte*> received = exchange_parts(transport, parts, thread_->cancelled());
    detail::reduce_parts(received, static_cast<std::byte*>(own.data), own.size, own.dtype, op);
  });
}

RankRequest Communicator::start_reduce_scatter(const std::vector<RankArray>& parts, float* sums) {
  require_parts(parts);
  for (const RankArray& part : parts) require_bfloat16(part.dtype);
  if (size_ == 1) {
    const auto* const x = static_cast<const bfloat16*>(parts.front().data);
    for (std::int64_t i = 0; i < parts.front().size; ++i) sums[i] = static_cast<float>(x[i]);
    return {};
  }
  return start([this, parts, sums](detail::Transport& transport) { sum_of_parts(transport, parts, sums); });
}

RankRequest Communicator::start_all_reduce(const RankArray& x, float* errors) {
  require_bfloat16(x.dtype);
  if (size_ == 1) return {};
  const std::vector<RankArray> parts = parts_of(x);
  start([this, parts, errors](detail::Transport& transport) {
    const RankArray& own = parts[static_cast<std::size_t>(rank_)];
    std::vector<float> sums(static_cast<std::size_t>(own.size));
    sum_of_parts(transport, parts, sums.data());
    auto* const rounded = static_cast<bfloat16*>(own.data);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const float sum = sums[i] + errors[i];
      rounded[i] = static_cast<bfloat16>(sum);
      errors[i] = sum - static_cast<float>(rounded[i]);
    }
  });
  return start_all_gather(parts);
}

void Communicator::sum_of_parts(detail::Transport& transport, const std::vector<RankArray>& parts, float* sums) const {
  const RankArray& own = parts[static_cast<std::size_t>(rank_)];
  const std::vector<const std::byte*> received = exchange_parts(transport, parts, thread_->cancelled());
  std::fill_n(sums, own.size, 0.0F);
  for (const std::byte* const part : received) {
    const auto* const x = reinterpret_cast<const bfloat16*>(part);
    for (std::int64_t i = 0; i < own.size; ++i) sums[i] += static_cast<float>(x[i]);
  }
}

RankRequest Communicator::start_all_gather(const std::vector<RankArray>& parts) {
  require_parts(parts);
  if (size_ == 1) return {};
  return start([this, parts](detail::Transport& transport) {
    const Parts send(parts.size(), memory(parts[static_cast<std::size_t>(rank_)]));
    Parts receive;
    for (const RankArray& part : parts) receive.push_back(memory(part));
    transport.exchange(send, receive, thread_->cancelled());
  });
}

RankRequest Communicator::start_gather(const std::vector<RankArray>& parts, int root) {
  require_parts(parts);
  require_rank(root);
  if (size_ == 1) return {};
  return start([this, parts, root](detail::Transport& transport) {
    Parts send(parts.size()), receive(parts.size());
    send[static_cast<std::size_t>(root)] = memory(parts[static_cast<std::size_t>(rank_)]);
    for (std::size_t i = 0; i < parts.size() && rank_ == root; ++i) receive[i] = memory(parts[i]);
    transport.exchange(send, receive, thread_->cancelled());
  });
}

RankRequest Communicator::start_reduce_scatter(const RankArray& x, ReduceOp op) {
  return start_reduce_scatter(parts_of(x), op);
}

RankRequest Communicator::start_all_gather(const RankArray& x) { return start_all_gather(parts_of(x)); }

RankRequest Communicator::start_all_reduce(const RankArray& x, ReduceOp op) {
  detail::require_reducible(x.dtype);
  if (size_ == 1) return {};
  const std::size_t bytes = memory(x).bytes;
  if (bytes > small) {
    start_reduce_scatter(x, op);
    return start_all_gather(x);
  }
  return start([this, x, op, bytes](detail::Transport& transport) {
    const detail::RankMemory own{x.data, bytes};
    std::vector<const std::byte*> parts;
    const Parts send(static_cast<std::size_t>(size_), own), receive = received_parts(own, rank_, size_, parts);
    transport.exchange(send, receive, thread_->cancelled());
    detail::reduce_parts(parts, static_cast<std::byte*>(x.data), x.size, x.dtype, op);
  });
}

void Communicator::all_reduce(const RankArray& x, ReduceOp op) { start_all_reduce(x, op).wait(); }
void Communicator::reduce_scatter(const RankArray& x, ReduceOp op) { start_reduce_scatter(x, op).wait(); }
void Communicator::all_gather(const RankArray& x) { start_all_gather(x).wait(); }

void Communicator::broadcast(const RankArray& x, int root) {
  require_rank(root);
  if (size_ == 1) return;
  // The root sends a part to each rank, and these send their parts to each other: no rank sends more than twice x.
  start([parts = parts_of(x), root, this](detail::Transport& transport) {
    Parts send(parts.size()), receive(parts.size());
    for (std::size_t i = 0; i < parts.size() && rank_ == root; ++i) send[i] = memory(parts[i]);
    receive[static_cast<std::size_t>(root)] = memory(parts[static_cast<std::size_t>(rank_)]);
    transport.exchange(send, receive, thread_->cancelled());
  });
  all_gather(x);
}

std::vector<std::string> Communicator::gather_texts(const std::string& text) {
  if (size_ == 1) return {text};
  std::vector<std::string> out(static_cast<std::size_t>(size_));
  start([&](detail::Transport& transport) {
    std::uint64_t length = text.size();
    std::vector<std::uint64_t> lengths(out.size());
    Parts send(out.size(), detail::RankMemory{&length, sizeof length}), receive;
    receive.reserve(out.size());
    for (std::uint64_t& one : lengths) receive.push_back({&one, sizeof one});
    transport.exchange(send, receive, thread_->cancelled());
    std::string own = text;
    send.assign(out.size(), detail::RankMemory{own.data(), own.size()});
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].resize(lengths[i]);
      receive[i] = {out[i].data(), out[i].size()};
    }
    transport.exchange(send, receive, thread_->cancelled());
  }).wait();
  return out;
}

std::string Communicator::broadcast_text(const std::string& text) {
  return gather_texts(rank_ == 0 ? text : std::string()).front();
}

}  // namespace mezzo
