#include <mezzo/data/text/tokenizer/regex_syntax.hpp>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace mezzo::detail {
namespace {

constexpr std::size_t deepest_group = 200;

// PCRE2's \s has U+180E and its \w lacks marks.
constexpr std::string_view white_space = R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029})"
                                         R"(\x{202f}\x{205f}\x{3000})";
constexpr std::string_view word_class = R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149})"
                                        R"(\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";
constexpr std::string_view hexadecimal = "0-9A-Fa-f";

std::string bracketed(std::string_view characters, bool negated) {
  return std::string(negated ? "[^" : "[") + std::string(characters) + "]";
}

class Translation {
 public:
  explicit Translation(std::string_view text) : text_(text) {}

  std::string result() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\\') {
      escape();
    } else if (c == '[') {
      atom_ = out_.size();
      character_class();
    } else if (c == '(') {
      open_group();
    } else if (c == ')') {
      close_group();
    } else if (c == '{') {
      interval();
    } else if (c == '*' || c == '+' || c == '?' || c == '|') {
      out_ += c;
      ++at_;
    } else {
      atom_ = out_.size();
      const auto byte = static_cast<unsigned char>(c);
      const std::size_t length = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
      out_ += text_.substr(at_, length);
      at_ += std::min(length, text_.size() - at_);
    }
  }

  /// Character behind a backslash at `at_`.
  char escaped() const {
    if (at_ + 1 >= text_.size()) throw std::runtime_error("a backslash must have a character behind it");
    return text_[at_ + 1];
  }

  void escape() {
    atom_ = out_.size();
    const char c = escaped();
    if (c == 's' || c == 'S') {
      out_ += bracketed(white_space, c == 'S');
    } else if (c == 'w' || c == 'W') {
      out_ += bracketed(word_class, c == 'W');
    } else if (c == 'h' || c == 'H') {
      out_ += bracketed(hexadecimal, c == 'H');
    } else if (c == 'b' || c == 'B') {
      const std::string in = bracketed(word_class, false);
      const std::string begins = "(?<!" + in + ")(?=" + in + ")";
      const std::string ends = "(?<=" + in + ")(?!" + in + ")";
      out_ += c == 'b' ? "(?:" + begins + "|" + ends + ")" : "(?!" + begins + "|" + ends + ")";
    } else {
      return copy_escape(c);
    }
    at_ += 2;
  }

  /// Escapes that both know.
  void copy_escape(char c) {
    constexpr std::string_view same = "dDnrtfvaeAzZGKRXpPx123456789";
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter && same.find(c) == std::string_view::npos) {
      throw std::runtime_error(std::string("the escape \\") + c + " is not supported");
    }
    std::size_t end = at_ + 2;
    if ((c == 'p' || c == 'P' || c == 'x') && end < text_.size() && text_[end] == '{') {
      end = std::min(text_.find('}', end), text_.size() - 1) + 1;
    }
    out_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  void character_class() {
    out_ += text_[at_++];
    if (at_ < text_.size() && text_[at_] == '^') out_ += text_[at_++];
    bool first = true;
    for (; at_ < text_.size(); first = false) {
      const char c = text_[at_];
      if (c == ']' && !first) {
        out_ += c;
        ++at_;
        return;
      }
      if (c == '\\') {
        escape_in_class();
      } else if (c == '[') {
        posix_class();
      } else if (text_.substr(at_, 2) == "&&") {
        throw std::runtime_error("the intersection && of classes is not supported");
      } else {
        if (c == ']') out_ += '\\';
        out_ += c;
        ++at_;
      }
    }
    throw std::runtime_error("a class must end with ]");
  }

  void posix_class() {
    const std::size_t end = text_.find(":]", at_);
    if (text_.substr(at_, 2) != "[:" || end == std::string_view::npos) {
      throw std::runtime_error("a class in a class is not supported; the character is \\[");
    }
    out_ += text_.substr(at_, end + 2 - at_);
    at_ = end + 2;
  }

  void escape_in_class() {
    const char c = escaped();
    if (c == 's') {
      out_ += white_space;
    } else if (c == 'w') {
      out_ += word_class;
    } else if (c == 'h') {
      out_ += hexadecimal;
    } else if (c == 'W' || c == 'H') {
      throw std::runtime_error(std::string("\\") + c + " in a class is not supported");
    } else if (c == 'S' || c == 'b') {  // U+180E is in PCRE2's \s
      out_ += c == 'S' ? R"(\S\x{180e})" : R"(\x{8})";
    } else {
      return copy_escape(c);
    }
    at_ += 2;
  }

  void open_group() {
    if (groups_.size() >= deepest_group) throw std::runtime_error("groups must be at most 200 deep");
    groups_.push_back(out_.size());
    out_ += '(';
    if (++at_ >= text_.size() || text_[at_] != '?') {
      if (at_ < text_.size() && text_[at_] == '*') throw std::runtime_error("verbs (*...) are not supported");
      return;
    }
    out_ += text_[at_++];
    if (at_ < text_.size() && text_[at_] == '#') {  // a comment ends at the next parenthesis
      const std::size_t end = std::min(text_.find(')', at_), text_.size());
      out_.resize(groups_.back());
      groups_.pop_back();
      at_ = std::min(end + 1, text_.size());
      return;
    }
    // Options: Ruby's m is PCRE2's s.
    for (; at_ < text_.size() && std::string_view("imx-").find(text_[at_]) != std::string_view::npos; ++at_) {
      out_ += text_[at_] == 'm' ? 's' : text_[at_];
    }
    constexpr std::string_view kinds = ":=!<>)";
    if (at_ >= text_.size() || kinds.find(text_[at_]) == std::string_view::npos) {
      throw std::runtime_error("a group must start with (?: (?= (?! (?<= (?<! (?> (?<name> or options such as (?i:");
    }
    if (text_[at_] == ')') return;
    out_ += text_[at_++];
  }

  void close_group() {
    atom_ = groups_.empty() ? out_.size() : groups_.back();
    if (!groups_.empty()) groups_.pop_back();
    out_ += ')';
    ++at_;
  }

  /// `{2}`, `{2,}`, `{,3}` or `{2,3}`; other braces are characters.
  void interval() {
    const std::size_t end = text_.find('}', at_);
    const std::string_view inside = end == std::string_view::npos ? "" : text_.substr(at_ + 1, end - at_ - 1);
    const std::size_t commas = static_cast<std::size_t>(std::count(inside.begin(), inside.end(), ','));
    if (inside.find_first_not_of("0123456789,") != std::string_view::npos || commas > 1 || inside.size() <= commas) {
      atom_ = out_.size();
      out_ += "\\{";
      ++at_;
      return;
    }
    out_ += '{';
    if (inside.front() == ',') out_ += '0';
    out_ += inside;
    out_ += '}';
    at_ = end + 1;
    if (at_ < text_.size() && text_[at_] == '+') {
      out_.insert(std::min(atom_, out_.size()), "(?:");
      out_ += ')';
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t atom_ = 0;             // begin of what a quantifier repeats, in out_
  std::vector<std::size_t> groups_;  // begins of the open groups, in out_
};

}  // namespace

std::string in_pcre2(const std::string& expression) { return Translation(expression).result(); }

}  // namespace mezzo::detail
