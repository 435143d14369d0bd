#include <mezzo/precision/loss_scale.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

constexpr double smallest = 0x1p-126, largest = 0x1p127;

/// Checks of options. Errors start with the prefix and the name of the option.
class Check {
 public:
  explicit Check(std::string prefix) : prefix_(std::move(prefix)) {}

  void in_range(const char* name, double value, double low, double high) const {
    if (value >= low && value <= high) return;
    fail<ValueError>("", "{}{} must be from {} to {}; got {}", prefix_, name, low, high, value);
  }

  void count(const char* name, std::int64_t value) const {
    if (value >= 0 && value <= LossScale::largest_count) return;
    fail<ValueError>("", "{}{} must be from 0 to {}; got {}", prefix_, name, LossScale::largest_count, value);
  }

  template <class Number>
  void require(bool good, const char* name, const char* what, Number value) const {
    if (!good) fail<ValueError>("", "{}{} must be {}; got {}", prefix_, name, what, value);
  }

  template <class Number>
  void unused(const char* name, Number value, Number otherwise) const {
    if (value == otherwise) return;
    fail<ValueError>("", "{}{} must be left out for a fixed scale, which has initial_scale only; got {}", prefix_, name,
                     value);
  }

 private:
  std::string prefix_;
};

}  // namespace

void detail::check_loss_scale(const LossScaleOptions& options, const std::string& prefix) {
  const Check check(prefix);
  if (!options.dynamic) {
    const LossScaleOptions plain;
    check.in_range("initial_scale", options.initial_scale, smallest, largest);
    check.unused("growth_factor", options.growth_factor, plain.growth_factor);
    check.unused("backoff_factor", options.backoff_factor, plain.backoff_factor);
    check.unused("growth_interval", options.growth_interval, plain.growth_interval);
    check.unused("floor", options.floor, plain.floor);
    check.unused("cap", options.cap, plain.cap);
    return;
  }
  const double growth = options.growth_factor, backoff = options.backoff_factor;
  check.require(growth > 1 && growth <= largest, "growth_factor", "finite and greater than 1", growth);
  check.require(backoff > 0 && backoff < 1, "backoff_factor", "between 0 and 1", backoff);
  check.require(options.growth_interval >= 1, "growth_interval", "1 or more", options.growth_interval);
  check.in_range("floor", options.floor, smallest, largest);
  check.in_range("cap", options.cap, options.floor, largest);
  check.in_range("initial_scale", options.initial_scale, options.floor, options.cap);
}

LossScale::LossScale(const LossScaleOptions& options) : options_(options), state_{options.initial_scale, 0, 0} {
  detail::check_loss_scale(options, "[LossScale] ");
}

bool LossScale::update(bool finite) {
  if (finite) {
    ++state_.finite_steps;
    if (!options_.dynamic || state_.finite_steps < options_.growth_interval) return true;
    state_.finite_steps = 0;
    state_.scale = std::min(state_.scale * options_.growth_factor, options_.cap);
    return true;
  }
  const bool room = !at_floor();
  ++state_.skipped;
  state_.finite_steps = 0;
  if (options_.dynamic) state_.scale = std::max(state_.scale * options_.backoff_factor, options_.floor);
  return room;
}

void LossScale::set_state(const LossScaleState& state) {
  const Check check("[LossScale] state: ");
  const bool dynamic = options_.dynamic;
  check.in_range("scale", state.scale, dynamic ? options_.floor : smallest, dynamic ? options_.cap : largest);
  check.count("finite_steps", state.finite_steps);
  check.count("skipped", state.skipped);
  state_ = state;
}

}  // namespace mezzo
