#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <mezzo/core/shape.hpp>

namespace mezzo::detail {

/// Tokens of a `.npy` header, which is a Python literal. Spaces around tokens are skipped.
class NpyText {
 public:
  explicit NpyText(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }

  /// True if that character is next.
  bool at(char c) {
    skip_space();
    return !rest_.empty() && rest_.front() == c;
  }

  /// Skips the character; false if another one is next.
  bool take(char c) {
    if (!at(c)) return false;
    rest_.remove_prefix(1);
    skip_space();
    return true;
  }

  /// Skips the word; false if another one is next.
  bool take(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  /// A text in quotes, without escapes; nullopt if none is next.
  std::optional<std::string> quoted() {
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  /// A tuple of sizes of 0 or more, "(2, 3)"; nullopt if none is next.
  std::optional<Shape> shape() {
    Shape sizes;
    if (!take('(')) return std::nullopt;
    while (!take(')')) {
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0) return std::nullopt;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      sizes.push_back(size);
      if (!take(',') && !at(')')) return std::nullopt;
    }
    return sizes;
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

 private:
  std::string_view rest_;
};

}  // namespace mezzo::detail
