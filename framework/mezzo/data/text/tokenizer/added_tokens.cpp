#include <mezzo/data/text/tokenizer/added_tokens.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/tokenizer/characters.hpp>

namespace mezzo::detail {
namespace {

/// Begin of the last character of a text that is not empty.
std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80) --at;
  return at;
}

char32_t first_of(std::string_view text) { return character_at(text, 0, character_length(text[0])); }

bool ends_with_word(std::string_view text) {
  return !text.empty() && is_word_character(first_of(text.substr(last_character(text))));
}

bool starts_with_word(std::string_view text) { return !text.empty() && is_word_character(first_of(text)); }

/// Begin of the white space at the end of a text.
std::size_t trailing_space(std::string_view text) {
  while (!text.empty() && is_white_space(first_of(text.substr(last_character(text))))) {
    text = text.substr(0, last_character(text));
  }
  return text.size();
}

/// End of the white space at the begin of a text.
std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_white_space(first_of(text.substr(at)))) at += character_length(text[at]);
  return at;
}

}  // namespace

const AddedTokens::Entry* AddedTokens::entry(std::uint64_t id) const {
  const std::uint32_t at = by_id_.find(id);
  return at == FlatMap::none ? nullptr : &entries_[at];
}

std::optional<std::uint32_t> AddedTokens::find(std::string_view content) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.token.content == content; });
  return found == entries_.end() ? std::nullopt : std::optional(found->id);
}

const std::string* AddedTokens::text(std::uint64_t id) const {
  const Entry* found = entry(id);
  return found == nullptr ? nullptr : &found->text;
}

std::uint32_t AddedTokens::add(const AddedToken& token, const TokenVocabulary& vocabulary, const Normalizer* normalizer,
                               const std::string& where) {
  Entry made{token, token.content, 0};
  if (token.normalized && normalizer != nullptr) {
    AlignedText text = aligned(token.content, 0);
    normalizer->apply(text);
    made.text = text.text;
  }
  if (made.text.empty()) {
    fail<FileError>(where, "the added token \"{}\" must not be empty, also after the normalizer", token.content);
  }
  std::optional<std::uint32_t> id = find(token.content);
  if (!id) id = vocabulary.find(token.content);
  if (!id) {
    const auto size = static_cast<std::uint32_t>(vocabulary.size());
    id = largest_ && *largest_ >= size ? *largest_ + 1 : size;
    ++new_;
  }
  made.id = *id;
  largest_ = std::max(largest_.value_or(0), made.id);
  Finder& finder = token.normalized ? normalized_ : raw_;
  const std::uint32_t known = finder.trie.walk(0, made.text);
  if (known == TokenTrie::none || finder.trie.token(known) == TokenTrie::none) finder.trie.add(made.text, made.id);
  finder.starts[static_cast<unsigned char>(made.text[0])] = true;
  finder.is_empty = false;
  if (token.special) special_.insert(token.content);
  by_id_.set(made.id, static_cast<std::uint32_t>(entries_.size()));
  entries_.push_back(std::move(made));
  return *id;
}

std::vector<AddedTokens::Found> AddedTokens::matches(std::string_view text, const Finder& finder) const {
  std::vector<Found> out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size() && !finder.is_empty;) {
    std::size_t end = at;
    std::uint32_t id = 0;
    std::uint32_t node = finder.starts[static_cast<unsigned char>(text[at])] ? 0 : TokenTrie::none;
    for (std::size_t next = at; next < text.size() && node != TokenTrie::none; ++next) {
      node = finder.trie.next(node, text[next]);
      if (node == TokenTrie::none || finder.trie.token(node) == TokenTrie::none) continue;
      id = finder.trie.token(node);
      end = next + 1;
    }
    if (end == at) {
      ++at;
      continue;
    }
    const AddedToken& token = entry(id)->token;
    std::size_t begin = at;
    at = end;
    if (token.single_word && (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end)))) continue;
    if (token.lstrip) begin = std::max(trailing_space(text.substr(0, begin)), done);
    if (token.rstrip) end += leading_space(text.substr(end));
    if (done < begin) out.push_back({done, begin, std::nullopt});
    out.push_back({begin, end, id});
    done = end;
  }
  if (done < text.size()) out.push_back({done, text.size(), std::nullopt});
  return out;
}

Pieces AddedTokens::extract(std::string_view text, const Normalizer* normalizer) const {
  Pieces out;
  for (const Found& part : matches(text, raw_)) {
    AlignedText own = aligned(text.substr(part.begin, part.end - part.begin), static_cast<std::uint32_t>(part.begin));
    if (part.token) {
      out.append(own, 0, own.text.size(), part.token);
      continue;
    }
    if (normalizer != nullptr) normalizer->apply(own);
    for (const Found& piece : matches(own.text, normalized_)) out.append(own, piece.begin, piece.end, piece.token);
  }
  return out;
}

}  // namespace mezzo::detail
