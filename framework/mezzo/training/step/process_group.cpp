#include <mezzo/training/step/process_group.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/distributed/rank_threads.hpp>

namespace mezzo::detail {

void ProcessGroup::require_alone_with(const char* what) const {
  if (!shared()) return;
  fail<ValueError>("[Trainer]", "a training of several ranks can't have {}; got it with {} ranks", what,
                   communicator_->size());
}

void ProcessGroup::require_alone_in(const char* call) const {
  if (!shared()) return;
  fail<ValueError>("[Callback]", "{}: must be called in a training of one rank; got {} ranks", call,
                   communicator_->size());
}

int ProcessGroup::threads() const {
  const int threads = thread_count();
  if (!shared()) return threads;
  const int share = threads_of_rank(*communicator_);  // also where it isn't used: all ranks must call it
  return std::getenv("OMP_NUM_THREADS") != nullptr ? threads : std::min(threads, share);
}

void ProcessGroup::require_equal(const SharedFacts& facts) const {
  if (shared()) compare_ranks(*communicator_, facts);
}

bool ProcessGroup::any(bool own) const {
  if (!shared()) return own;
  std::int32_t all = own ? 1 : 0;
  communicator_->all_reduce({&all, 1, DType::int32}, ReduceOp::max);
  return all != 0;
}

std::string ProcessGroup::text_of_writer(const std::function<std::string()>& find) const {
  if (!shared()) return find();
  return communicator_->broadcast_text(writes() ? find() : std::string());
}

void ProcessGroup::once_per_machine(const std::function<void()>& call) const {
  if (!shared() || communicator_->local_rank() == 0) call();
  wait();
}

void ProcessGroup::wait() const {
  if (shared()) communicator_->barrier();
}

void ProcessGroup::end_others(const std::string& reason) const {
  if (shared()) communicator_->fail(reason);
}

}  // namespace mezzo::detail
