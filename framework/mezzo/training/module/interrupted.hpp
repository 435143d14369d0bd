#pragma once
#include <csignal>

#include <mezzo/core/api.hpp>
#include <mezzo/core/error.hpp>

namespace mezzo {

/// SIGINT, SIGTERM or interrupt_training() during a fit, as on_exception of callbacks receives it. After a signal,
/// Trainer::fit ends the process; after interrupt_training(), fit throws it.
struct MEZZO_API Interrupted : Error {
  /// Number: SIGINT or SIGTERM.
  explicit Interrupted(int number)
      : Error(number == 0        ? "[Trainer] fit: interrupted"
              : number == SIGINT ? "[Trainer] fit: interrupted by SIGINT"
                                 : "[Trainer] fit: interrupted by SIGTERM"),
        signal(number) {}
  int signal;  ///< SIGINT or SIGTERM; 0 for interrupt_training()
};

/// Ends the running `fit` of a Trainer or model after its step: it throws an Interrupted, and a Trainer saves
/// `interrupted.ckpt` as after a signal. Can be called in a signal handler and in any thread; interpreters and
/// notebooks use it. No effect if no fit is running, and on trainings of several processes.
MEZZO_API void interrupt_training() noexcept;

}  // namespace mezzo
