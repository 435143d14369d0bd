#include <mezzo/training/loops/progress_bar.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

void require_refresh_rate(const char* where, int rate) {
  if (rate < 0) fail<ValueError>(where, "refresh_rate must be 0 or more; got {}", rate);
}

}  // namespace

TQDMProgressBar::TQDMProgressBar(const TQDMProgressBarOptions& options) : options_(options) {
  require_refresh_rate("[TQDMProgressBar]", options.refresh_rate);
}

std::optional<detail::ProgressBarStyle> TQDMProgressBar::style() const {
  return detail::ProgressBarStyle{.refresh_rate = options_.refresh_rate, .leave = options_.leave};
}

RichProgressBar::RichProgressBar(const RichProgressBarOptions& options) : options_(options) {
  require_refresh_rate("[RichProgressBar]", options.refresh_rate);
}

std::optional<detail::ProgressBarStyle> RichProgressBar::style() const {
  return detail::ProgressBarStyle{.refresh_rate = options_.refresh_rate, .leave = options_.leave, .rich = true};
}

}  // namespace mezzo
