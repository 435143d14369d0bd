#include <mezzo/training/loops/limits.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

std::int64_t share_of(double share, std::int64_t total, const char* option) {
  const auto batches = static_cast<std::int64_t>(share * static_cast<double>(total));
  if (batches == 0 && share > 0) {
    fail<ValueError>("[Trainer]", "{} must give at least one of {} batches; got the share {}", option, total, share);
  }
  return batches;
}

}  // namespace

detail::BatchLimit::BatchLimit(std::int64_t batches) : batches_(batches) {
  if (batches < 0) fail<ValueError>("[Trainer]", "a limit of batches must be 0 or more; got {}", batches);
}

detail::BatchLimit::BatchLimit(double share) : share_(share) {
  if (!(share >= 0 && share <= 1)) {
    fail<ValueError>("[Trainer]", "a limit as a share of the batches must be in [0, 1]; got {}", share);
  }
}

std::int64_t detail::BatchLimit::of(std::int64_t total, const char* option) const {
  return share_ < 0 ? std::min(batches_, total) : share_of(share_, total, option);
}

std::int64_t detail::BatchLimit::of_unsized(const char* option) const {
  if (share_ < 0) return batches_;
  if (share_ == 0) return 0;
  if (share_ == 1) return detail::all_batches;
  fail<ValueError>("[Trainer]", "{} must be 1.0 or a number of batches for a loader without a size; got the share {}",
                   option, share_);
}

std::string detail::BatchLimit::text() const {
  return share_ < 0 ? fmt::format("{}", batches_) : fmt::format("{:#}", share_);
}

detail::Duration::Duration(double seconds) : seconds_(seconds) {
  if (!(seconds > 0 && std::isfinite(seconds))) {
    fail<ValueError>("[Trainer]", "a time must be a finite number of seconds above 0; got {}", seconds);
  }
}

double detail::Duration::parse(const std::string& text) {
  constexpr double most[] = {1e6, 24, 60, 60};
  constexpr double seconds_of[] = {86400, 3600, 60, 1};
  double total = 0;
  std::size_t field = 0, digits = 0;
  double number = 0;
  const auto refuse = [&] {
    fail<ValueError>("[Trainer]", "a time must have the form \"DD:HH:MM:SS\"; got \"{}\"", text);
  };
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] >= '0' && text[i] <= '9' && digits < 6) {
      number = 10 * number + (text[i] - '0');
      ++digits;
      continue;
    }
    const bool ends = i == text.size() ? field == 3 : text[i] == ':' && field < 3;
    if (!ends || digits == 0 || number >= most[field]) refuse();
    total += number * seconds_of[field++];
    number = 0;
    digits = 0;
  }
  return total;
}

detail::CheckInterval::CheckInterval(std::int64_t batches) : batches_(batches) {
  if (batches < 1) fail<ValueError>("[Trainer]", "val_check_interval must be at least 1 batch; got {}", batches);
}

detail::CheckInterval::CheckInterval(double share) : share_(share) {
  if (!(share > 0 && share <= 1)) {
    fail<ValueError>("[Trainer]", "val_check_interval as a share of the epoch must be in (0, 1]; got {}", share);
  }
}

std::string detail::CheckInterval::text() const {
  if (seconds_ > 0) return fmt::format("{} s", seconds_);
  return share_ > 0 ? fmt::format("{:#}", share_) : fmt::format("{}", batches_);
}

std::int64_t detail::CheckInterval::batches(std::int64_t total) const {
  if (seconds_ > 0) return 0;
  return share_ > 0 ? share_of(share_, total, "val_check_interval") : batches_;
}

std::int64_t detail::CheckInterval::batches_unsized() const {
  if (seconds_ > 0) return 0;
  return share_ > 0 ? detail::BatchLimit(share_).of_unsized("val_check_interval") : batches_;
}

}  // namespace mezzo
