#include <mezzo/training/progress_bar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <mezzo/core/output.hpp>

namespace mezzo::detail {
namespace {

std::string clock_text(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds);
  return s < 3600 ? fmt::format("{:02}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

/// Four digits; whole numbers below 1e9, such as loss scales, in full.
std::string number_text(double number) {
  const bool whole = std::abs(number) < 1e9 && number == std::floor(number);
  return whole ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

}  // namespace

ProgressBar::ProgressBar(bool enabled, std::int64_t total, int epochs)
    : enabled_(enabled), terminal_(enabled && output_is_terminal()), total_(total), epochs_(epochs) {}

void ProgressBar::begin(int epoch) {
  epoch_ = epoch;
  start_ = Clock::now();
  shown_ = {};
}

bool ProgressBar::due() { return terminal_ && Clock::now() - shown_ >= std::chrono::milliseconds(100); }

void ProgressBar::show(std::int64_t done, const Numbers& numbers) {
  shown_ = Clock::now();
  write_output(fmt::format("\r{}\x1b[K", line(done, numbers)));
}

void ProgressBar::end(std::int64_t done, const Numbers& numbers) {
  if (!enabled_) return;
  write_output(fmt::format("{}{}{}", terminal_ ? "\r" : "", line(done, numbers), terminal_ ? "\x1b[K\n" : "\n"));
}

std::string ProgressBar::line(std::int64_t done, const Numbers& numbers) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(std::max<std::int64_t>(total_ - done, 0)) / rate : 0;
  const std::string of = epochs_ < 0 ? "" : fmt::format("/{}", epochs_);
  std::string text = fmt::format("Epoch {}{}: {:3}% {}/{} [{}<{}, {:.2f}it/s", epoch_ + 1, of, 100 * done / total_,
                                 done, total_, clock_text(elapsed), clock_text(left), rate);
  for (const auto& [name, number] : numbers) text += fmt::format(", {}={}", name, number_text(number));
  return text + "]";
}

}  // namespace mezzo::detail
