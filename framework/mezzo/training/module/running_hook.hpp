#pragma once
#include <cstddef>
#include <string>

#include <mezzo/graph/value.hpp>
#include <mezzo/training/module/log_options.hpp>

namespace mezzo::detail {

/// A hook that a thread runs between two steps, as the static functions of Module reach it. Implemented by
/// training/loops.
class RunningHook {
 public:
  RunningHook(const RunningHook&) = delete;
  RunningHook& operator=(const RunningHook&) = delete;

  /// Innermost hook of this thread; null outside of hooks.
  static RunningHook* innermost();

  /// Sets a number of the running epoch or evaluation. A ValueError for options, and in hooks that can't log.
  virtual void log(const std::string& name, const Value& value, const LogOptions& options) = 0;

  /// Index of the loader of the running batch.
  virtual std::size_t dataloader_idx() const = 0;

 protected:
  RunningHook();  ///< becomes the innermost hook
  ~RunningHook();

 private:
  RunningHook* outer_;
};

}  // namespace mezzo::detail
