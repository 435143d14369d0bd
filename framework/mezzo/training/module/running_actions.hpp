#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

/// Actions of a profiler that have started and not stopped, the outermost first.
class RunningActions {
 public:
  using Clock = std::chrono::steady_clock;

  struct Action {
    std::string name;
    Clock::time_point start;
    bool shown = true;  ///< its end will be recorded
  };

  Action& start(const std::string& name) {
    actions_.push_back({name, Clock::now()});
    return actions_.back();
  }

  /// Ends the innermost action of that name, after the actions inside of it that an exception left running. Calls
  /// `ended` with each. A ValueError that starts with `where` if there is none.
  template <class Ended>
  void stop(const std::string& name, const std::string& where, const Ended& ended) {
    std::size_t count = actions_.size();
    while (count > 0 && actions_[count - 1].name != name) --count;
    if (count == 0) fail<ValueError>(where, "stop: an action \"{}\" must be running; got none of that name", name);
    const Clock::time_point now = Clock::now();
    for (; actions_.size() >= count; actions_.pop_back()) {
      if (actions_.back().shown) ended(actions_.back(), now);
    }
  }

  /// Calls `ended` with the running actions, the innermost first, for a report. Their ends will not be recorded.
  template <class Ended>
  void report(const Ended& ended) {
    const Clock::time_point now = Clock::now();
    for (std::size_t i = actions_.size(); i > 0; --i) {
      if (std::exchange(actions_[i - 1].shown, false)) ended(actions_[i - 1], now);
    }
  }

  std::size_t size() const { return actions_.size(); }

 private:
  std::vector<Action> actions_;
};

}  // namespace mezzo::detail
