#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <mezzo/distributed/communicator.hpp>
#include <mezzo/training/ranks/compare_ranks.hpp>

namespace mezzo::detail {

/// Processes, or threads in their place, that run a training together: the ranks of a Communicator, or this process
/// alone. All of them must call the functions that communicate in one order.
class ProcessGroup {
 public:
  ProcessGroup() = default;  ///< this process alone

  /// Null: this process alone.
  explicit ProcessGroup(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}

  /// Null for a process alone.
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }

  /// False for a process alone.
  bool shared() const { return communicator_ != nullptr; }

  /// True for the one process that writes files and to the terminal.
  bool writes() const { return !shared() || communicator_->rank() == 0; }

  /// Throws a ValueError for an option or a callback that needs a process alone, unless this one is.
  void require_alone_with(const char* what) const;

  /// The same for a call of a callback.
  void require_alone_in(const char* call) const;

  /// Threads of this process in a call: those that OMP_NUM_THREADS or set_thread_count() allow. Without
  /// OMP_NUM_THREADS at most its share of the processors. Communicates.
  int threads() const;

  /// Throws a RankError in all processes unless they have the same facts. It names the first rank that differs, the
  /// fact and both values. Communicates.
  void require_equal(const SharedFacts& facts) const;

  /// True if `own` is true in one of the processes. Communicates.
  bool any(bool own) const;

  /// Result of `find` in the process that writes. Others don't call it. Communicates.
  std::string text_of_writer(const std::function<std::string()>& find) const;

  /// Calls `call` in one process of each machine, before the function returns in any of them. Communicates.
  void once_per_machine(const std::function<void()>& call) const;

  /// Returns when all processes have called it.
  void wait() const;

  /// Ends the other processes with an error of that reason.
  void end_others(const std::string& reason) const;

 private:
  std::shared_ptr<Communicator> communicator_;
};

}  // namespace mezzo::detail
