#include <mezzo/core/pattern.hpp>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <re2/re2.h>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t most_characters = 10'000;
constexpr std::int64_t most_bytes = 1 << 20;  // of the compiled expression and its automaton

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Index behind the repetition "{2}", "{2,}" or "{2,3}" that starts at `at`; `at` if there is none.
std::size_t after_repetition(const std::string& text, std::size_t at) {
  const auto number = [&](std::size_t from) {
    return std::min(text.find_first_not_of("0123456789", from), text.size());
  };
  std::size_t end = number(at + 1);
  if (end == at + 1) return at;
  if (text[end] == ',') end = number(end + 1);
  return text[end] == '}' ? end + 1 : at;
}

/// Refuses text that RE2 reads as octal numbers or plain text: "\12" and "a{1".
void check_digits_and_braces(const std::string& text) {
  constexpr std::size_t most_digits = 4;  // of a repetition; RE2 has an upper bound of 1000
  bool in_class = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      const char escaped = text[++i];  // '\0' at the end
      if (escaped >= '1' && escaped <= '9') {
        throw std::runtime_error(fmt::format("invalid escape \\{}; back references are not supported", escaped));
      }
      if (text[i] != '\0' && text[i + 1] == '{' && (escaped == 'x' || escaped == 'p' || escaped == 'P')) ++i;
    } else if (in_class && text.compare(i, 2, "[:") == 0) {
      i = std::min(text.find(":]", i), text.size() - 1) + 1;
    } else if (c == '[' || (c == ']' && in_class)) {
      in_class = c == '[';
    } else if (c == '{' && !in_class) {
      const std::size_t end = after_repetition(text, i);
      if (end == i) throw std::runtime_error("a { must start a repetition such as {2} or {2,3}; the character is \\{");
      for (std::size_t digits = 0; ++i + 1 < end;) {
        digits = digit(text[i]) ? digits + 1 : 0;
        if (digits > most_digits) throw std::runtime_error("a repetition must be at most 1000");
      }
    }
  }
}

std::string reason_of(const re2::RE2& expression) {
  if (expression.error_code() != re2::RE2::ErrorBadPerlOp) return expression.error();
  return expression.error() + "; look-around is not supported, and groups are named by (?P<name>...)";
}

/// The replacement with RE2's names of the groups.
std::string in_re2(const std::string& replacement, int groups) {
  std::string out;
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    const char c = replacement[i], next = i + 1 < replacement.size() ? replacement[i + 1] : '\0';
    if (c == '\\') out += '\\';
    if (c != '$' || (next != '$' && next != '&' && (next < '1' || next > '9'))) {
      out += c;
      continue;
    }
    ++i;
    if (next == '$') {
      out += '$';
    } else if (next == '&' || next - '0' <= groups) {  // a group that doesn't exist is empty
      out += '\\';
      out += next == '&' ? '0' : next;
    }
  }
  return out;
}

}  // namespace

// Exported for the parts that are libraries of their own, such as mezzo::onnx.
MEZZO_API Pattern::Pattern(const std::string& text) {
  if (text.size() > most_characters) {
    throw std::runtime_error(fmt::format("at most {} bytes; got {}", most_characters, text.size()));
  }
  check_digits_and_braces(text);
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(most_bytes);
  expression_ = std::make_shared<re2::RE2>(text, options);
  if (!expression_->ok()) throw std::runtime_error(reason_of(*expression_));
}

MEZZO_API bool Pattern::matches(const std::string& text) const { return re2::RE2::FullMatch(text, *expression_); }

bool Pattern::is_found_in(const std::string& text) const { return re2::RE2::PartialMatch(text, *expression_); }

std::string Pattern::replaced(const std::string& text, const std::string& replacement) const {
  std::string out = text;
  re2::RE2::GlobalReplace(&out, *expression_, in_re2(replacement, expression_->NumberOfCapturingGroups()));
  return out;
}

}  // namespace mezzo::detail
