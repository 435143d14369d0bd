#include <mezzo/training/progress_bar.hpp>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

/// Columns of the terminal; 0 if it doesn't say.
std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// The first `columns` characters of a UTF-8 text.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
    if (!continues && ++count > columns) return text.substr(0, i);
  }
  return text;
}

std::string share(std::int64_t done, std::int64_t total) {
  if (total < 0) return fmt::format("{}/?", done);
  return fmt::format("{:3}% {}/{}", 100 * done / total, done, total);
}

}  // namespace

ProgressBar::ProgressBar(int verbose, std::int64_t total)
    : enabled_(verbose != 0), terminal_(verbose == 1 && output_is_terminal()), total_(total) {}

void ProgressBar::begin(std::string title, std::int64_t first) {
  title_ = std::move(title);
  first_ = done_ = first;
  start_ = Clock::now();
  shown_ = {};
}

bool ProgressBar::due() { return terminal_ && Clock::now() - shown_ >= std::chrono::milliseconds(100); }

void ProgressBar::show(std::int64_t done, const Numbers& numbers) {
  done_ = done;
  numbers_ = numbers;
  write(line(numbers));
}

void ProgressBar::show_evaluation(std::int64_t done, std::int64_t total, const Numbers& numbers) {
  if (!rest_) return show(done, numbers);
  write(line(numbers_, fmt::format(", validation {}", share(done, total))));
}

void ProgressBar::write(const std::string& line) {
  shown_ = Clock::now();
  const std::size_t width = terminal_width();
  // A character in the last column makes some terminals begin the next line.
  write_output(fmt::format("\r{}\x1b[K", width < 2 ? line : cut(line, width - 1)));
}

void ProgressBar::end(std::int64_t done, const Numbers& numbers) {
  done_ = done;
  if (!enabled_) return;
  write_output(fmt::format("{}{}{}", terminal_ ? "\r" : "", line(numbers), terminal_ ? "\x1b[K\n" : "\n"));
}

std::string ProgressBar::line(const Numbers& numbers, const std::string& more) const {
  const double elapsed = std::chrono::duration<double>(rest_.value_or(Clock::now()) - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done_ - first_) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(std::max<std::int64_t>(total_ - done_, 0)) / rate : 0;
  std::string text = fmt::format("{}: {} [{}<{}, {:.2f}it/s", title_, share(done_, total_), clock_text(elapsed),
                                 total_ < 0 ? "?" : clock_text(left), rate);
  for (const auto& [name, number] : numbers) text += fmt::format(", {}={}", name, number_text(number));
  return fmt::format("{}{}]", text, more);
}

}  // namespace mezzo::detail
