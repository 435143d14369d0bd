#include <mezzo/data/text/tokenizer/text_pattern.hpp>

#include <stdexcept>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/tokenizer/aligned_text.hpp>
#include <mezzo/data/text/tokenizer/regex_syntax.hpp>

#ifdef MEZZO_WITH_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

namespace mezzo::detail {

#ifdef MEZZO_WITH_PCRE2

namespace {

constexpr std::size_t longest_expression = 10'000;      // in bytes
constexpr std::uint32_t most_match_steps = 10'000'000;  // of one search
constexpr std::uint32_t most_match_kibibytes = 65'536;
constexpr std::uint32_t deepest_parentheses = 250;
constexpr std::size_t largest_pattern = 1 << 20;

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
using MatchData = std::unique_ptr<pcre2_match_data, FreeMatch>;

std::string pcre2_message(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

struct CompileContext {
  CompileContext() {
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context, deepest_parentheses);
    pcre2_set_max_pattern_length(context, largest_pattern);
  }
  ~CompileContext() { pcre2_compile_context_free(context); }
  CompileContext(const CompileContext&) = delete;
  CompileContext& operator=(const CompileContext&) = delete;
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
};

}  // namespace

struct TextPattern::Regex {
  explicit Regex(const std::string& expression) {
    if (expression.size() > longest_expression) {
      throw std::runtime_error(fmt::format("at most {} bytes; got {}", longest_expression, expression.size()));
    }
    const std::string translated = in_pcre2(expression);
    const CompileContext compiling;
    int code_of_error = 0;
    std::size_t place = 0;
    constexpr std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), options, &code_of_error,
                         &place, compiling.context);
    if (code == nullptr) throw std::runtime_error(pcre2_message(code_of_error));
    pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // a failure makes it slower
    limits = pcre2_match_context_create(nullptr);
    pcre2_set_match_limit(limits, most_match_steps);
    pcre2_set_heap_limit(limits, most_match_kibibytes);
  }
  ~Regex() {
    pcre2_match_context_free(limits);
    pcre2_code_free(code);
  }
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  /// Searches from `at`; false if there is no match.
  bool find(std::string_view text, std::size_t at, pcre2_match_data* data) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    int found = pcre2_match(code, subject, text.size(), at, PCRE2_NO_UTF_CHECK, data, limits);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter's stack grows
      found = pcre2_match(code, subject, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, limits);
    }
    if (found == PCRE2_ERROR_NOMATCH) return false;
    if (found < 0) {
      fail<ValueError>("[Tokenizer]", "a regular expression must match a text of {} bytes within its limits; PCRE2: {}",
                       text.size(), pcre2_message(found));
    }
    return true;
  }

  void for_each_part(std::string_view text, const UsePart& use) const {
    const MatchData data(pcre2_match_data_create_from_pattern(code, nullptr));
    const std::size_t* place = pcre2_get_ovector_pointer(data.get());
    std::size_t done = 0;
    std::size_t last_end = text.size() + 1;  // of the last match
    for (std::size_t at = 0; at <= text.size() && find(text, at, data.get());) {
      const std::size_t begin = place[0];
      const std::size_t end = place[1];
      if (end < begin) {  // \K in a look-ahead
        fail<ValueError>("[Tokenizer]", "a match must not end before it begins; got {} and {}", begin, end);
      }
      const bool skips = begin == end && begin == last_end;
      if (!skips) {
        if (begin < done) fail<ValueError>("[Tokenizer]", "matches must not overlap; got one at byte {}", begin);
        if (done < begin) use(done, begin, false);
        use(begin, end, true);
        done = last_end = end;
      }
      at = end;
      if (skips) at += end < text.size() ? character_length(text[end]) : 1;
    }
    if (done < text.size()) use(done, text.size(), false);
  }

  pcre2_code* code = nullptr;
  pcre2_match_context* limits = nullptr;
};

TextPattern TextPattern::regex(const std::string& expression, const std::string& where) {
  TextPattern out;
  try {
    out.regex_ = std::make_shared<const Regex>(expression);
  } catch (const std::runtime_error& error) {
    fail<FileError>(where, "invalid regular expression \"{}\": {}", expression, error.what());
  }
  return out;
}

#else

struct TextPattern::Regex {
  void for_each_part(std::string_view, const UsePart&) const {}
};

TextPattern TextPattern::regex(const std::string& expression, const std::string& where) {
  fail<FileError>(where, "the regular expression \"{}\" needs PCRE2, and mezzo was built without libpcre2", expression);
}

#endif

TextPattern TextPattern::literal(std::string text, const std::string& where) {
  if (text.empty()) fail<FileError>(where, "a text to search for must not be empty");
  TextPattern out;
  out.text_ = std::move(text);
  return out;
}

void TextPattern::for_each_part(std::string_view text, const UsePart& use) const {
  if (regex_) return regex_->for_each_part(text, use);
  std::size_t done = 0;
  for (std::size_t at = text.find(text_); at != std::string_view::npos; at = text.find(text_, done)) {
    if (done < at) use(done, at, false);
    done = at + text_.size();
    use(at, done, true);
  }
  if (done < text.size()) use(done, text.size(), false);
}

}  // namespace mezzo::detail
