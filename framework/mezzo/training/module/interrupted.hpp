#pragma once
#include <csignal>

#include <mezzo/core/api.hpp>
#include <mezzo/core/error.hpp>

namespace mezzo {

/// SIGINT or SIGTERM during Trainer::fit, as on_exception of callbacks receives it.
struct MEZZO_API Interrupted : Error {
  /// Number: SIGINT or SIGTERM.
  explicit Interrupted(int number)
      : Error(number == SIGINT ? "[Trainer] fit: interrupted by SIGINT" : "[Trainer] fit: interrupted by SIGTERM"),
        signal(number) {}
  int signal;  ///< SIGINT or SIGTERM
};

}  // namespace mezzo
