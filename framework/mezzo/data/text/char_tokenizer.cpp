#include <mezzo/data/text/char_tokenizer.hpp>

#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo {
namespace {

constexpr const char* char_label = "[CharTokenizer]";

/// Calls use(code point, byte offset) for each character.
template <class Use>
void for_each_character(std::string_view text, Use&& use) {
  for (std::size_t at = 0; at < text.size();) {
    const detail::CodePoint c = detail::first_code_point(text.substr(at));
    if (!c.valid) fail<ValueError>(char_label, "a text must be UTF-8; got an invalid byte at {}", at);
    use(c.value, at);
    at += c.bytes;
  }
}

/// `U+00E9 "é"`; control characters without the quoted form.
std::string describe(char32_t c) {
  std::string out = fmt::format("U+{:04X}", static_cast<std::uint32_t>(c));
  if (c >= ' ' && c != 0x7F) {
    out += " \"";
    detail::append_utf8(out, c);
    out += "\"";
  }
  return out;
}

}  // namespace

CharTokenizer::CharTokenizer(std::string_view corpus) {
  std::set<char32_t> found;
  for_each_character(corpus, [&](char32_t c, std::size_t) { found.insert(c); });
  for (const char32_t c : found) {
    ids_.emplace(c, vocab_size());
    characters_ += c;
  }
}

CharTokenizer::Ids CharTokenizer::encode(std::string_view text) const {
  Ids ids;
  ids.reserve(text.size());
  for_each_character(text, [&](char32_t c, std::size_t at) {
    const auto found = ids_.find(c);
    if (found == ids_.end()) {
      fail<ValueError>(char_label, "every character must be one of the vocabulary's {}; got {} at byte {} of the text",
                       vocab_size(), describe(c), at);
    }
    ids.push_back(found->second);
  });
  return ids;
}

std::string CharTokenizer::decode(const Ids& ids) const {
  std::string out;
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= vocab_size()) {
      fail<ValueError>(char_label, "ids must lie in [0, {}); got {}", vocab_size(), id);
    }
    detail::append_utf8(out, characters_[static_cast<std::size_t>(id)]);
  }
  return out;
}

std::string CharTokenizer::vocabulary() const { return detail::encode_utf8(characters_); }

}  // namespace mezzo
