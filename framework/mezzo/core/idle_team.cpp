#include <mezzo/core/idle_team.hpp>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include <mezzo/core/fork.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::detail {
namespace {

/// A thread that has run one parallel region, which makes the team, and waits. libgomp ends the team with the thread.
class Team {
 public:
  explicit Team(int threads) : thread_([this, threads] { run(threads); }) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return made_; });
  }
  ~Team() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

 private:
  void run(int threads) {
    parallel_threads(threads, [](int, int) {});
    std::unique_lock<std::mutex> lock(mutex_);
    made_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return ending_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool made_ = false, ending_ = false;
  std::thread thread_;
};

struct State {
  ForkMutex mutex;
  std::unique_ptr<Team> team;
  int depth = 0;  // fork_depth() when the team was started
};

/// Never destroyed: at the end of the process the team may still wait.
State& state() {
  static auto* const one = new State;
  return *one;
}

/// Drops a team of a parent process. The caller holds the mutex.
void leave_to_parent() {
  if (state().depth != fork_depth()) (void)state().team.release();  // its thread can't be joined here
  state().depth = fork_depth();
}

}  // namespace

bool IdleTeam::start(int threads) {
  static const bool chosen = waiting_is_chosen();
  if (chosen) return false;
  const std::lock_guard<std::mutex> lock(state().mutex);
  leave_to_parent();
  if (state().team) return true;
  // libgomp counts a team without its first thread, and compares with the processors of the affinity mask.
  const int size = std::max(2, processors() - threads + 2);
  try {
    state().team = std::make_unique<Team>(size);
  } catch (const std::system_error&) {  // no more threads
    return false;
  }
  return true;
}

void IdleTeam::end() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  leave_to_parent();
  state().team.reset();
}

bool IdleTeam::running() {
  const std::lock_guard<std::mutex> lock(state().mutex);
  return state().team != nullptr && state().depth == fork_depth();
}

}  // namespace mezzo::detail
