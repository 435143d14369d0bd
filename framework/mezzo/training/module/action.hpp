#pragma once
#include <mezzo/training/module/profiler.hpp>

namespace mezzo::detail {

/// An action of the loops, for its lifetime, in the profiler of the call if there is one.
class Action {
 public:
  Action(const Any<Profiler>& profiler, const char* name) : profiler_(profiler), name_(name) {
    if (profiler_) profiler_->start(name_);
  }
  ~Action() {
    if (profiler_) profiler_->stop(name_);
  }
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;

 private:
  const Any<Profiler>& profiler_;
  const char* name_;
};

}  // namespace mezzo::detail
