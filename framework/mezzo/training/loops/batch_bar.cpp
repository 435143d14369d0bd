#include <mezzo/training/loops/batch_bar.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include <mezzo/core/output.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t unknown_width = 80;  // columns of lines with colours, whose bar needs some width

/// Columns of the terminal; 0 if it doesn't say.
std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

const ProgressBar* bar_among(const std::vector<Callback*>& callbacks) {
  for (const Callback* callback : callbacks) {
    if (const auto* bar = dynamic_cast<const ProgressBar*>(callback)) return bar;
  }
  return nullptr;
}

}  // namespace

BatchBar::BatchBar(int verbose, const std::vector<Callback*>& callbacks, std::int64_t total)
    : enabled_(verbose != 0), terminal_(verbose == 1 && output_is_terminal()), total_(total) {
  const ProgressBar* const chosen = bar_among(callbacks);
  if (chosen == nullptr) return;
  const std::optional<ProgressBarStyle> style = chosen->style();
  enabled_ = style.has_value();
  terminal_ = enabled_ && output_is_terminal();
  style_ = style.value_or(ProgressBarStyle());
}

BatchBar::~BatchBar() {
  if (lines_ > 0) write_output("\n");
}

void BatchBar::begin(std::string title, std::int64_t first) {
  title_ = std::move(title);
  first_ = done_ = first;
  start_ = Clock::now();
  shown_ = {};
}

bool BatchBar::due(std::int64_t done) const {
  if (!terminal_ || style_.refresh_rate == 0 || done % style_.refresh_rate != 0) return false;
  return Clock::now() - shown_ >= std::chrono::milliseconds(100);
}

void BatchBar::show(std::int64_t done, const Numbers& numbers) {
  done_ = done;
  numbers_ = numbers;
  draw(state(numbers));
}

void BatchBar::show_evaluation(std::int64_t done, std::int64_t total, const Numbers& numbers) {
  if (!rest_) return show(done, numbers);
  ProgressState now = state(numbers_);
  now.validated = {done, total};
  draw(now);
}

void BatchBar::draw(const ProgressState& state) {
  shown_ = Clock::now();
  const std::size_t width = terminal_width();
  // A character in the last column makes some terminals begin the next line.
  const std::size_t columns = width < 2 ? unknown_width : width - 1;
  std::vector<std::string> lines;
  if (style_.rich) {
    lines = rich_lines(state, columns);
  } else {
    lines.push_back(width < 2 ? plain_line(state) : cut(plain_line(state), columns));
  }
  std::string text = "\r";
  if (lines_ > 1) text += fmt::format("\x1b[{}A", lines_ - 1);
  text += fmt::format("{}\x1b[K", fmt::join(lines, "\x1b[K\n"));
  if (lines.size() < lines_) text += "\x1b[J";
  lines_ = lines.size();
  write_output(text);
}

void BatchBar::end(std::int64_t done, const Numbers& numbers) {
  done_ = done;
  if (!enabled_) return;
  if (!terminal_) return write_output(plain_line(state(numbers)) + "\n");
  if (style_.rich || !style_.leave) {
    draw(state(numbers));
    if (!style_.leave) return;  // the next epoch overwrites it
    write_output("\n");
  } else {
    write_output(fmt::format("\r{}\x1b[K\n", plain_line(state(numbers))));
  }
  lines_ = 0;
}

ProgressState BatchBar::state(const Numbers& numbers) const {
  const double elapsed = std::chrono::duration<double>(rest_.value_or(Clock::now()) - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done_ - first_) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(std::max<std::int64_t>(total_ - done_, 0)) / rate : 0;
  return {.title = title_,
          .done = done_,
          .total = total_,
          .seconds = elapsed,
          .seconds_left = left,
          .rate = rate,
          .numbers = numbers,
          .validated = {}};
}

}  // namespace mezzo::detail
