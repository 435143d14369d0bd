#include <mezzo/data/text/tokenizer/pre_tokenizers.hpp>

#include <mezzo/data/text/tokenizer/byte_characters.hpp>
#include <mezzo/data/text/tokenizer/characters.hpp>
#include <mezzo/data/text/tokenizer/function_part.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

template <class Function>
PreTokenizerPtr pre_tokenizer_of(Function function) {
  return part_of_function<PreTokenizer, Pieces>(std::move(function));
}

/// Parts of words, of other characters that are not white space, and of white space.
template <class Use>
void for_each_word_part(std::string_view text, Use&& use) {
  enum class Kind { space, word, other };
  Kind kind = Kind::space;
  std::size_t begin = 0;
  for_each_character_of(text, [&](char32_t c, std::size_t at, std::size_t) {
    const Kind now = is_word_character(c) ? Kind::word : is_white_space(c) ? Kind::space : Kind::other;
    if (now != kind && begin < at) {
      use(begin, at, kind == Kind::space);
      begin = at;
    }
    kind = now;
  });
  if (begin < text.size()) use(begin, text.size(), kind == Kind::space);
}

void split_by(Pieces& pieces, const TextPattern& pattern, SplitBehavior behavior, bool invert) {
  pieces.split(behavior, [&](std::string_view text, auto&& use) {
    pattern.for_each_part(
        text, [&](std::size_t begin, std::size_t end, bool is_match) { use(begin, end, is_match != invert); });
  });
}

/// Puts `prefix` before each piece for which `wants` is true.
template <class Wants>
void prepend_to_pieces(Pieces& pieces, std::string_view prefix, Wants&& wants) {
  pieces.change([&](const AlignedText& text, const Piece& piece, AlignedText& out) {
    const auto own = std::string_view(text.text).substr(piece.begin, piece.end - piece.begin);
    if (wants(piece) && own.substr(0, prefix.size()) != prefix) out.append(prefix, text.alignment[piece.begin]);
    out.append(text, piece.begin, piece.end);
  });
}

void replace_spaces(Pieces& pieces, std::string_view replacement) {
  pieces.change([&](const AlignedText& text, const Piece& piece, AlignedText& out) {
    std::size_t done = piece.begin;
    for (std::size_t at = piece.begin; at < piece.end; ++at) {
      if (text.text[at] != ' ') continue;
      out.append(text, done, at);
      out.append(replacement, text.alignment[at]);
      done = at + 1;
    }
    out.append(text, done, piece.end);
  });
}

}  // namespace

PreTokenizerPtr bert_pre_tokenizer() {
  return pre_tokenizer_of([](Pieces& pieces) {
    pieces.split_at(SplitBehavior::removed, is_white_space);
    pieces.split_at(SplitBehavior::isolated, is_punctuation);
  });
}

PreTokenizerPtr whitespace_pre_tokenizer() {
  return pre_tokenizer_of([](Pieces& pieces) {
    pieces.split(SplitBehavior::removed, [](std::string_view text, auto&& use) { for_each_word_part(text, use); });
  });
}

PreTokenizerPtr whitespace_split_pre_tokenizer() {
  return pre_tokenizer_of([](Pieces& pieces) { pieces.split_at(SplitBehavior::removed, is_white_space); });
}

PreTokenizerPtr punctuation_pre_tokenizer(SplitBehavior behavior) {
  return pre_tokenizer_of([behavior](Pieces& pieces) { pieces.split_at(behavior, is_punctuation); });
}

PreTokenizerPtr digits_pre_tokenizer(bool individual_digits) {
  const SplitBehavior behavior = individual_digits ? SplitBehavior::isolated : SplitBehavior::contiguous;
  return pre_tokenizer_of([behavior](Pieces& pieces) { pieces.split_at(behavior, is_numeric); });
}

PreTokenizerPtr fixed_length_pre_tokenizer(std::size_t length) {
  return pre_tokenizer_of([length](Pieces& pieces) {
    pieces.split(SplitBehavior::isolated, [length](std::string_view text, auto&& use) {
      std::size_t count = 0;
      std::size_t begin = 0;
      for_each_character_of(text, [&](char32_t, std::size_t, std::size_t end) {
        if (++count % length != 0) return;
        use(begin, end, false);
        begin = end;
      });
      if (begin < text.size()) use(begin, text.size(), false);
    });
  });
}

PreTokenizerPtr delimiter_pre_tokenizer(char32_t delimiter) {
  return pre_tokenizer_of([delimiter](Pieces& pieces) {
    pieces.split_at(SplitBehavior::removed, [delimiter](char32_t c) { return c == delimiter; });
  });
}

PreTokenizerPtr split_pre_tokenizer(TextPattern pattern, SplitBehavior behavior, bool invert) {
  return pre_tokenizer_of(
      [=, pattern = std::move(pattern)](Pieces& pieces) { split_by(pieces, pattern, behavior, invert); });
}

PreTokenizerPtr metaspace_pre_tokenizer(char32_t replacement, PrependScheme scheme, bool split) {
  std::string bytes;
  append_utf8(bytes, replacement);
  return pre_tokenizer_of([=](Pieces& pieces) {
    replace_spaces(pieces, bytes);
    if (scheme != PrependScheme::never) {
      prepend_to_pieces(pieces, bytes,
                        [&](const Piece& piece) { return scheme == PrependScheme::always || piece.origin == 0; });
    }
    if (!split) return;
    pieces.split_at(SplitBehavior::merged_with_next, [=](char32_t c) { return c == replacement; });
  });
}

PreTokenizerPtr byte_level_pre_tokenizer(bool add_prefix_space, std::optional<TextPattern> pattern) {
  return pre_tokenizer_of([=, pattern = std::move(pattern)](Pieces& pieces) {
    if (add_prefix_space) prepend_to_pieces(pieces, " ", [](const Piece&) { return true; });
    if (pattern) split_by(pieces, *pattern, SplitBehavior::isolated, false);
    pieces.change([](const AlignedText& text, const Piece& piece, AlignedText& out) {
      append_byte_characters(text, piece.begin, piece.end, out);
    });
  });
}

PreTokenizerPtr pre_tokenizer_sequence(std::vector<PreTokenizerPtr> pre_tokenizers) {
  return pre_tokenizer_of([all = std::move(pre_tokenizers)](Pieces& pieces) {
    for (const PreTokenizerPtr& one : all) one->apply(pieces);
  });
}

}  // namespace mezzo::detail
