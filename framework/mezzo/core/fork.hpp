#pragma once
#include <mutex>

namespace mezzo::detail {

/// Makes computing possible after fork(), in the parent and in the child; further calls have no effect. A child has
/// only the thread that called fork(): libgomp would wait forever for the other threads of its pool. Therefore fork()
/// first ends the pool of the calling thread, and each process starts a new one at its next parallel region.
void handle_forks();

/// Mutex that fork() waits for, so that it is free in the child. It must never be destroyed, and no other lock may be
/// taken while it is held.
class ForkMutex : public std::mutex {
 public:
  ForkMutex();
};

/// Scope of work that must not be copied half done. During its lifetime fork() on another thread waits, for a second at
/// most (the work may itself wait for the thread that calls fork()). New objects wait for a fork() that has begun.
class ForkDelay {
 public:
  ForkDelay();
  ~ForkDelay();
  ForkDelay(const ForkDelay&) = delete;
  ForkDelay& operator=(const ForkDelay&) = delete;
};

/// Number of forks between the first process and this one. Threads of an object made under a lower number no longer
/// exist.
int fork_depth();

/// Number of times that fork() has ended a pool of threads in this process.
int pools_ended();

}  // namespace mezzo::detail
