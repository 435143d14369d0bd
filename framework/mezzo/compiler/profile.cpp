#include <mezzo/compiler/profile.hpp>

#include <algorithm>
#include <numeric>

namespace mezzo {
namespace {

std::chrono::nanoseconds::rep nanoseconds(Profile::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

void Profile::start() {
  std::fill(current_.begin(), current_.end(), 0);
  start_ = last_ = Clock::now();
}

void Profile::lap(std::size_t i) {
  const Clock::time_point now = Clock::now();
  current_[i] += nanoseconds(now - last_);
  last_ = now;
}

void Profile::finish() {
  if (++runs_ == 0) {
    first_ = std::accumulate(current_.begin(), current_.end(), Nanoseconds{0});
    return;
  }
  for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += current_[i];
}

void Profile::count_wall(Clock::duration time) {
  if (runs_ > 0) wall_ += nanoseconds(time);
}

double Profile::mean(Nanoseconds total) const {
  return runs_ > 0 ? static_cast<double>(total) / static_cast<double>(runs_) : 0;
}

double Profile::run_time() const { return mean(std::accumulate(total_.begin(), total_.end(), Nanoseconds{0})); }

double Profile::wall_time() const { return wall_ > 0 ? mean(wall_) : run_time(); }

}  // namespace mezzo
