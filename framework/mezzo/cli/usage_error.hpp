#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace mezzo::cli {

/// Exit codes of the command (docs/command.md). Trainer ends an interrupted training with 128 + the signal's number.
enum ExitCode { success = 0, failure = 1, wrong_use = 2 };

/// A wrong argument or configuration: exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Arguments>
[[noreturn]] void fail_usage(fmt::format_string<Arguments...> message, Arguments&&... arguments) {
  throw UsageError(fmt::format(message, std::forward<Arguments>(arguments)...));
}

}  // namespace mezzo::cli
