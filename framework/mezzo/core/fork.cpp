#include <mezzo/core/fork.hpp>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <new>
#include <vector>

#include <mezzo/core/idle_team.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::detail {
namespace {

std::atomic<int> depth{0}, ended{0};

/// Never destroyed: a handler may run while static objects are destroyed.
struct Mutexes {
  std::mutex own;
  std::vector<std::mutex*> all;
};

Mutexes& mutexes() {
  static auto* const one = new Mutexes;
  return *one;
}

thread_local int own_delays = 0;  // existing objects ForkDelay of this thread

/// Counts the existing objects ForkDelay, and the forks that wait for them.
class DelayedForks {
 public:
  void begin_work() {
    std::unique_lock lock(mutex_);
    if (own_delays == 0) fork_ended_.wait(lock, [&] { return forks_ == 0; });
    ++own_delays;
    ++living_;
  }

  void end_work() {
    const std::lock_guard lock(mutex_);
    --own_delays;
    --living_;
    work_ended_.notify_all();
  }

  /// Returns with the mutex locked. Work of the calling thread does not count, so that two such threads can fork.
  void begin_fork() {
    mutex_.lock();
    std::unique_lock lock(mutex_, std::adopt_lock);
    living_ -= own_delays;
    ++forks_;
    work_ended_.notify_all();
    work_ended_.wait_for(lock, std::chrono::seconds(1), [&] { return living_ == 0; });
    lock.release();
  }

  void end_fork() {
    --forks_;
    living_ += own_delays;
    mutex_.unlock();
    fork_ended_.notify_all();
  }

  /// Takes over the work of the thread that called fork(); the child has no other thread.
  void begin_child() { living_ = own_delays; }

 private:
  std::mutex mutex_;
  std::condition_variable work_ended_, fork_ended_;
  int living_ = 0;
  int forks_ = 0;
};

DelayedForks& delayed_forks() {
  static auto* const one = new DelayedForks;
  return *one;
}

void before_fork() {
  delayed_forks().begin_fork();
  IdleTeam::end();
  if (end_pool()) ++ended;
  mutexes().own.lock();
  for (std::mutex* mutex : mutexes().all) mutex->lock();
}

void unlock_mutexes() {
  for (std::mutex* mutex : mutexes().all) mutex->unlock();
  mutexes().own.unlock();
}

void in_parent() {
  unlock_mutexes();
  delayed_forks().end_fork();
}

void in_child() {
  ++depth;
  unlock_mutexes();
  // A condition variable can't be used where its waiting threads don't exist.
  new (&delayed_forks()) DelayedForks;
  delayed_forks().begin_child();
}

}  // namespace

void handle_forks() {
  static const int registered = pthread_atfork(before_fork, in_parent, in_child);
  (void)registered;  // fails only without memory; fork() then works as without the library
}

ForkMutex::ForkMutex() {
  handle_forks();
  const std::lock_guard<std::mutex> lock(mutexes().own);
  mutexes().all.push_back(this);
}

ForkDelay::ForkDelay() {
  handle_forks();
  delayed_forks().begin_work();
}

ForkDelay::~ForkDelay() { delayed_forks().end_work(); }

int fork_depth() { return depth; }
int pools_ended() { return ended; }

}  // namespace mezzo::detail
