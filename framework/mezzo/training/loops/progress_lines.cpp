#include <mezzo/training/loops/progress_lines.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mezzo::detail {
namespace {

constexpr std::int64_t widest_bar = 40;

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

/// Done and all batches; "?" for an unknown number.
std::string counts_text(std::int64_t done, std::int64_t total) {
  return total < 0 ? fmt::format("{}/?", done) : fmt::format("{}/{}", done, total);
}

std::string share(std::int64_t done, std::int64_t total) {
  if (total < 0) return counts_text(done, total);
  return fmt::format("{:3}% {}/{}", 100 * done / total, done, total);
}

std::string repeated(const char* text, std::int64_t count) {
  std::string out;
  for (std::int64_t i = 0; i < count; ++i) out += text;
  return out;
}

std::string time_left(const ProgressState& state) { return state.total < 0 ? "?" : clock_text(state.seconds_left); }

/// A text in one colour. The codes take no columns.
struct Segment {
  const char* color;  ///< of ECMA-48's Select Graphic Rendition; "": the terminal's own
  std::string text;
};
constexpr const char *accent = "36", *faint = "2", *plain = "", *ready = "32";

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string colored(const std::vector<Segment>& segments, std::size_t columns) {
  std::string out;
  for (const Segment& segment : segments) {
    const std::string text = cut(segment.text, columns);
    columns -= width(text);
    if (text.empty()) continue;
    out += *segment.color == '\0' ? text : fmt::format("\x1b[{}m{}\x1b[0m", segment.color, text);
  }
  return out;
}

/// The title, a bar of at most `room` columns and the counts.
std::vector<Segment> bar_of(const std::string& title, std::int64_t done, std::int64_t total, std::int64_t room) {
  const std::int64_t bar = std::clamp<std::int64_t>(room, 0, widest_bar);
  const std::int64_t filled = total > 0 ? bar * std::min(done, total) / total : total < 0 ? 0 : bar;
  return {{plain, title + " "},
          {total >= 0 && done >= total ? ready : accent, repeated("━", filled)},
          {faint, repeated("━", bar - filled)},
          {plain, fmt::format("{}{}", bar > 0 ? " " : "", counts_text(done, total))}};
}

}  // namespace

std::string cut(const std::string& text, std::size_t columns) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
    if (!continues && ++count > columns) return text.substr(0, i);
  }
  return text;
}

std::string plain_line(const ProgressState& state) {
  std::string text = fmt::format("{}: {} [{}<{}, {:.2f}it/s", state.title, share(state.done, state.total),
                                 clock_text(state.seconds), time_left(state), state.rate);
  for (const auto& [name, number] : state.numbers) text += fmt::format(", {}={}", name, number_text(number));
  if (state.validated) text += fmt::format(", validation {}", share(state.validated->first, state.validated->second));
  return text + "]";
}

std::vector<std::string> rich_lines(const ProgressState& state, std::size_t columns) {
  std::vector<Segment> rest{{faint, fmt::format(" {} • {}", clock_text(state.seconds), time_left(state))},
                            {accent, fmt::format(" {:.2f}it/s", state.rate)}};
  for (const auto& [name, number] : state.numbers) {
    rest.push_back({plain, fmt::format("  {}: ", name)});
    rest.push_back({accent, number_text(number)});
  }
  const std::size_t title = std::max(state.title.size(), std::string("Validation").size());
  const std::string counts = counts_text(state.done, state.total);
  std::size_t taken = title + counts.size() + 2;
  for (const Segment& segment : rest) taken += width(segment.text);
  const auto room = static_cast<std::int64_t>(columns) - static_cast<std::int64_t>(taken);
  std::vector<Segment> first = bar_of(fmt::format("{:<{}}", state.title, title), state.done, state.total, room);
  first.insert(first.end(), rest.begin(), rest.end());
  std::vector<std::string> out{colored(first, columns)};
  if (state.validated) {
    const auto [done, total] = *state.validated;
    out.push_back(colored(bar_of(fmt::format("{:<{}}", "Validation", title), done, total, room), columns));
  }
  return out;
}

}  // namespace mezzo::detail
