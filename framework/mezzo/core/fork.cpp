#include <mezzo/core/fork.hpp>

#include <pthread.h>

#include <atomic>
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

void before_fork() {
  IdleTeam::end();
  if (end_pool()) ++ended;
  mutexes().own.lock();
  for (std::mutex* mutex : mutexes().all) mutex->lock();
}

void unlock() {
  for (std::mutex* mutex : mutexes().all) mutex->unlock();
  mutexes().own.unlock();
}

void in_child() {
  ++depth;
  unlock();
}

}  // namespace

void handle_forks() {
  static const int registered = pthread_atfork(before_fork, unlock, in_child);
  (void)registered;  // fails only without memory; fork() then works as without the library
}

ForkMutex::ForkMutex() {
  handle_forks();
  const std::lock_guard<std::mutex> lock(mutexes().own);
  mutexes().all.push_back(this);
}

int fork_depth() { return depth; }
int pools_ended() { return ended; }

}  // namespace mezzo::detail
