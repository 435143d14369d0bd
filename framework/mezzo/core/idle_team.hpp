#pragma once

namespace mezzo::detail {

/// A second team of libgomp's threads that waits forever. A thread of libgomp that waits for others spins 300,000
/// rounds before it sleeps, and only 1,000 while libgomp manages more threads than there are CPUs. On a busy machine
/// the long spinning takes the processor from the thread that the others wait for. This team therefore shortens the
/// spinning of all threads of the process. One object for the process.
class IdleTeam {
 public:
  /// Starts the team unless it runs; `threads` is the number of threads that compute. Returns false if the team can't
  /// be started, or if the user has chosen how threads wait (waiting_is_chosen()).
  static bool start(int threads);

  /// Ends the team if it runs.
  static void end();

  static bool running();
};

}  // namespace mezzo::detail
