#pragma once
#include <cstddef>
#include <string>

#include <mezzo/core/innermost.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/training/module/log_options.hpp>

namespace mezzo::detail {

/// A hook that a thread runs between two steps, as the static functions of Module reach it. Implemented by
/// training/loops.
class RunningHook : public Innermost<RunningHook> {
 public:
  /// Sets a number of the running epoch or evaluation. A ValueError for options, and in hooks that can't log.
  virtual void log(const std::string& name, const Value& value, const LogOptions& options) = 0;

  /// Index of the loader of the running batch.
  virtual std::size_t dataloader_idx() const = 0;

 protected:
  RunningHook() = default;
  ~RunningHook() = default;
};

}  // namespace mezzo::detail
