#include <mezzo/core/contention.hpp>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/idle_team.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/tuning.hpp>

namespace mezzo::detail {
namespace {

constexpr double window = 0.05;     // seconds of steps between measurements
constexpr double least_ran = 1e-3;  // seconds; the share of a thread that ran less is not significant

// Threads that spin wait for a processor only if other programs take it. Threads that sleep also wait a little for it
// when they wake up.
constexpr double busy_spinning = 0.15, busy_sleeping = 0.3;
constexpr double certain = 0.1;                            // seconds in a row: a shorter load may be a short task
constexpr double least_patience = 0.5, most_patience = 4;  // doubled by each try that fails
// Time after which spinning is tried in any case: the waits of sleeping threads on an idle machine differ from machine
// to machine.
constexpr double most_away = 10;
constexpr double calm = 5;  // seconds at Level::alone until a try has succeeded

std::atomic<int> wanting{0};  // number of threads that use the idle team

}  // namespace

void ContentionLevels::go_to(Level level) {
  level_ = level;
  time_ = 0;
  busy_ = 0;
}

void ContentionLevels::note(const Measurement& measured, int threads, bool adapts) {
  time_ += measured.seconds;
  away_ = level_ == Level::alone ? 0 : away_ + measured.seconds;
  patience_ = std::max(patience_, least_patience);
  if (away_ >= most_away) {
    go_to(Level::alone);
    return;
  }
  switch (level_) {
    case Level::alone:
      busy_ = measured.most_waiting > busy_spinning ? busy_ + measured.seconds : 0;
      if (time_ > calm) patience_ = least_patience;
      if (busy_ >= certain) go_to(Level::yielding);
      break;
    case Level::yielding:
      if (measured.most_waiting > busy_sleeping) {
        time_ = 0;
        if (!adapts) break;
        // If `others` share them evenly, each thread has the share threads / (threads + others) of as many processors
        // as threads.
        const double others = threads / std::max(1 - measured.mean_waiting, 0.05) - threads;
        reduced_ = std::clamp(static_cast<int>(std::lround(threads - others)), 1, threads);
        if (reduced_ < threads) go_to(Level::reduced);
      } else if (time_ >= patience_) {
        patience_ = std::min(2 * patience_, most_patience);
        go_to(Level::alone);
      }
      break;
    case Level::reduced:
      if (time_ < patience_ && adapts) break;
      patience_ = std::min(2 * patience_, most_patience);
      go_to(Level::yielding);
      break;
  }
}

Contention& Contention::of_thread() { return ExecutionContext::current().part<Contention>(); }

Contention::~Contention() { want_team(false, 1); }

int Contention::threads(bool adapts) {
  all_ = thread_count();
  if (before_.size() < static_cast<std::size_t>(all_)) {  // here, so that later steps allocate nothing
    before_.resize(static_cast<std::size_t>(all_));
    now_.resize(before_.size());
  }
  if (measured_ == 0 && all_ > 1) {
    measure();
    std::swap(before_, now_);
  }
  return adapts ? levels_.threads(all_) : all_;
}

Contention::Times Contention::times_of_thread() {
  Times times;
  times.thread = static_cast<pid_t>(syscall(SYS_gettid));
  char text[64] = {};
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return times;
  const bool complete = read(file, text, sizeof(text) - 1) > 0;
  close(file);
  char* end = text;
  if (complete) times.ran = std::strtoull(text, &end, 10);
  if (complete) times.waited = std::strtoull(end, &end, 10);
  return times;
}

void Contention::measure() {
  measured_ = std::min(thread_count(), static_cast<int>(now_.size()));
  parallel_threads(measured_, [&](int thread, int) { now_[static_cast<std::size_t>(thread)] = times_of_thread(); });
}

void Contention::step_done(Duration time, bool adapts) {
  const bool yields = yield_when_busy();
  if (all_ < 2 || (!yields && !adapts)) {
    want_team(false, all_);
    return;
  }
  time_ += time;
  const double seconds = std::chrono::duration<double>(time_).count();
  if (seconds < window) return;
  const int before = measured_;
  measure();
  ContentionLevels::Measurement measured{.seconds = seconds};
  int known = 0;
  for (int i = 0; i < std::min(before, measured_); ++i) {
    const Times &from = before_[static_cast<std::size_t>(i)], &to = now_[static_cast<std::size_t>(i)];
    if (from.thread != to.thread) continue;  // libgomp replaced it
    const double ran = 1e-9 * static_cast<double>(to.ran - from.ran);
    const double waited = 1e-9 * static_cast<double>(to.waited - from.waited);
    if (ran + waited < least_ran) continue;
    const double share = waited / (ran + waited);
    measured.most_waiting = std::max(measured.most_waiting, share);
    measured.mean_waiting += share;
    ++known;
  }
  if (known > 0) measured.mean_waiting /= known;
  levels_.note(measured, all_, adapts);
  std::swap(before_, now_);
  time_ = {};
  want_team(yields && levels_.level() != ContentionLevels::Level::alone, all_);
}

void Contention::want_team(bool wanted, int threads) {
  if (wanted) {
    if (!std::exchange(wants_, true)) ++wanting;
    IdleTeam::start(threads);  // no effect if it runs; fork() ends it
  } else if (std::exchange(wants_, false) && --wanting == 0) {
    IdleTeam::end();
  }
}

}  // namespace mezzo::detail
