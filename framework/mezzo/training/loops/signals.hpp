#pragma once

namespace mezzo::detail {

/// Notes SIGINT and SIGTERM for its lifetime, in place of the end of the process. A second SIGINT ends the process at
/// once. Signals that the program handles or ignores itself are left to it; nested scopes have no effect.
class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

  /// Throws an Interrupted if a signal has come.
  static void check();

  /// The signal that has come, or 0.
  static int pending();

 private:
  bool installed_ = false;
};

/// Throws an Interrupted if interrupt_training() was called since the fit began.
void check_interrupt_request();

}  // namespace mezzo::detail
