#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <iostream>

namespace mezzo_tests {

// Runs f() -> bool in a child process; true if it returned true there. A child that hangs is ended after a minute.
template <class F>
bool in_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool passed = false;
    try {
      passed = f();
    } catch (const std::exception& error) {
      std::cerr << "child: " << error.what() << std::endl;
    }
    _exit(passed ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace mezzo_tests
