#include <mezzo/data/text/word_piece_tokenizer.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/data/text/bert_words.hpp>
#include <mezzo/data/text/utf8.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo {
namespace {

using Ids = WordPieceTokenizer::Ids;

constexpr std::uint64_t largest_vocabulary = std::uint64_t{256} << 20;  // in bytes
constexpr std::size_t longest_word = 100;                               // in characters
constexpr const char* word_piece_label = "[WordPieceTokenizer]";

/// True for tokens that Hugging Face's decoder appends to the word before without a space.
bool joins(std::string_view token) {
  constexpr std::array<std::string_view, 9> ends{".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return token.substr(0, end.size()) == end; });
}

/// Adds [CLS] and [SEP] to one text or, if `second` is not null, to a pair of texts.
Ids join(Ids first, const Ids* second, std::int64_t cls, std::int64_t sep) {
  first.insert(first.begin(), cls);
  first.push_back(sep);
  if (second != nullptr) {
    first.insert(first.end(), second->begin(), second->end());
    first.push_back(sep);
  }
  return first;
}

/// Shortens two sequences at their ends so that together they have at most `room` elements, as Hugging Face's
/// `longest_first` does: the longer one first, then both to equal lengths. If `room` is odd, the longer one keeps one
/// element more; of two equally long ones, the second does.
void truncate_longest_first(Ids& first, Ids& second, std::int64_t room) {
  const auto total = static_cast<std::size_t>(room);
  const bool swapped = first.size() > second.size();
  Ids& shorter = swapped ? second : first;
  Ids& longer = swapped ? first : second;
  if (shorter.size() + longer.size() <= total) return;
  if (shorter.size() > total / 2) shorter.resize(total / 2);
  longer.resize(total - shorter.size());
}

}  // namespace

struct WordPieceTokenizer::Vocabulary {
  std::vector<std::string> tokens;
  std::unordered_map<std::string, std::int64_t> ids;
  std::vector<std::pair<std::string, std::int64_t>> special;
  std::int64_t pad = 0, unk = 0, cls = 0, sep = 0;
  std::size_t longest = 0;  // length of the longest token, in bytes
  bool lowercase = true;

  Vocabulary(const std::string& path, bool lowercase_texts) : lowercase(lowercase_texts) {
    const detail::Bytes bytes = detail::read_file(path, largest_vocabulary);
    const std::string file = fmt::format("{} \"{}\":", word_piece_label, path);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      const auto [old, is_new] = ids.emplace(line, static_cast<std::int64_t>(tokens.size()));
      if (!is_new) {
        fail<FileError>(file, "every line must hold another token; got \"{}\" in lines {} and {}", old->first,
                        old->second + 1, tokens.size() + 1);
      }
      tokens.emplace_back(line);
      longest = std::max(longest, line.size());
    }
    const auto require = [&](const char* token) {
      const auto found = ids.find(token);
      if (found == ids.end()) {
        fail<FileError>(file, "must have the token {}; got {} tokens without it", token, tokens.size());
      }
      return found->second;
    };
    pad = require("[PAD]");
    unk = require("[UNK]");
    cls = require("[CLS]");
    sep = require("[SEP]");
    for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
      const auto found = ids.find(token);
      if (found != ids.end()) special.emplace_back(*found);
    }
  }

  bool is_special(std::int64_t id) const {
    return std::any_of(special.begin(), special.end(), [&](const auto& token) { return token.second == id; });
  }

  /// Appends the ids of a word's pieces to `out`.
  void add_word(const std::u32string& word, Ids& out) const {
    if (word.size() > longest_word) return out.push_back(unk);
    const std::size_t before = out.size();
    const std::string bytes = detail::encode_utf8(word);
    std::string piece;
    for (std::size_t begin = 0; begin < bytes.size();) {
      const std::size_t prefix = begin > 0 ? 2 : 0;
      std::size_t length = std::min(bytes.size() - begin, longest);
      auto found = ids.end();
      // A piece that ends within a character is not a token, since tokens are UTF-8.
      for (; length > 0 && found == ids.end(); --length) {
        piece.assign("##", prefix).append(bytes, begin, length);
        found = ids.find(piece);
      }
      if (found == ids.end()) {
        out.resize(before);
        return out.push_back(unk);
      }
      out.push_back(found->second);
      begin += piece.size() - prefix;
    }
  }

  void add_text(std::string_view text, Ids& out) const {
    for (const std::u32string& word : detail::bert_words(text, lowercase)) add_word(word, out);
  }
};

WordPieceTokenizer::WordPieceTokenizer(const std::string& vocab_file, const WordPieceTokenizerOptions& options) {
  vocabulary_ = std::make_shared<const Vocabulary>(vocab_file, options.lowercase);
}

Ids WordPieceTokenizer::pieces_of(const std::string& text) const {
  const Vocabulary& vocabulary = *detail::unmoved<WordPieceTokenizer>(vocabulary_);
  Ids ids;
  std::size_t done = 0;
  for (std::size_t at = text.find('['); at != std::string::npos; at = text.find('[', at)) {
    const auto found = std::find_if(vocabulary.special.begin(), vocabulary.special.end(), [&](const auto& token) {
      return text.compare(at, token.first.size(), token.first) == 0;
    });
    if (found == vocabulary.special.end()) {
      ++at;
      continue;
    }
    vocabulary.add_text(std::string_view(text).substr(done, at - done), ids);
    ids.push_back(found->second);
    at += found->first.size();
    done = at;
  }
  vocabulary.add_text(std::string_view(text).substr(done), ids);
  return ids;
}

Ids WordPieceTokenizer::encode(const std::string& text) const {
  const Vocabulary& vocabulary = *detail::unmoved<WordPieceTokenizer>(vocabulary_);
  return join(pieces_of(text), nullptr, vocabulary.cls, vocabulary.sep);
}

Ids WordPieceTokenizer::encode(const std::string& text, const std::string& text_pair) const {
  const Vocabulary& vocabulary = *detail::unmoved<WordPieceTokenizer>(vocabulary_);
  const Ids second = pieces_of(text_pair);
  return join(pieces_of(text), &second, vocabulary.cls, vocabulary.sep);
}

Encoding WordPieceTokenizer::encode_batch(const std::vector<std::string>& texts, const EncodeOptions& options) const {
  const Vocabulary& vocabulary = *detail::unmoved<WordPieceTokenizer>(vocabulary_);
  const std::vector<std::string>& pairs = options.text_pairs;
  const std::int64_t special = pairs.empty() ? 2 : 3;
  if (!pairs.empty() && pairs.size() != texts.size()) {
    fail<ValueError>(word_piece_label, "text_pairs must have one text for each of the {} texts, or none; got {}",
                     texts.size(), pairs.size());
  }
  if (options.max_length != 0 && options.max_length < special) {
    fail<ValueError>(word_piece_label, "max_length must be 0 or at least {}, the number of special tokens; got {}",
                     special, options.max_length);
  }
  const bool to_max_length = options.padding == "max_length";
  if (!to_max_length && options.padding != "longest") {
    fail<ValueError>(word_piece_label, "unknown padding \"{}\"; valid names: longest, max_length", options.padding);
  }
  if (to_max_length && options.max_length == 0) {
    fail<ValueError>(word_piece_label, "padding \"max_length\" needs a max_length above 0; got 0");
  }
  std::vector<std::pair<Ids, std::size_t>> rows;  // ids, begin of the second text
  std::size_t length = to_max_length ? static_cast<std::size_t>(options.max_length) : 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Ids first = pieces_of(texts[i]);
    Ids second = pairs.empty() ? Ids() : pieces_of(pairs[i]);
    if (options.max_length != 0) truncate_longest_first(first, second, options.max_length - special);
    const std::size_t border = first.size() + 2;
    rows.emplace_back(join(std::move(first), pairs.empty() ? nullptr : &second, vocabulary.cls, vocabulary.sep),
                      border);
    length = std::max(length, rows.back().first.size());
  }
  const Shape shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(length)};
  Encoding out{Tensor(shape, DType::int64), Tensor(shape, DType::int64), Tensor(shape, DType::int64)};
  auto* ids = out.input_ids.mutable_data<std::int64_t>();
  auto* mask = out.attention_mask.mutable_data<std::int64_t>();
  auto* types = out.token_type_ids.mutable_data<std::int64_t>();
  std::fill_n(ids, out.input_ids.size(), vocabulary.pad);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [row, border] = rows[i];
    std::copy(row.begin(), row.end(), ids + i * length);
    std::fill_n(mask + i * length, row.size(), 1);
    std::fill(types + i * length + border, types + i * length + row.size(), 1);
  }
  return out;
}

std::string WordPieceTokenizer::decode(const Ids& ids, bool skip_special_tokens) const {
  std::string out;
  bool first = true;
  for (const std::int64_t id : ids) {
    const std::string& token = id_to_token(id);
    if (skip_special_tokens && vocabulary_->is_special(id)) continue;
    if (!first && token.compare(0, 2, "##") == 0) {
      out.append(token, 2);
    } else {
      out += (first || joins(token) ? "" : " ") + token;
    }
    first = false;
  }
  return out;
}

std::int64_t WordPieceTokenizer::vocab_size() const {
  return static_cast<std::int64_t>(detail::unmoved<WordPieceTokenizer>(vocabulary_)->tokens.size());
}

std::int64_t WordPieceTokenizer::token_to_id(const std::string& token) const {
  const Vocabulary& vocabulary = *detail::unmoved<WordPieceTokenizer>(vocabulary_);
  const auto found = vocabulary.ids.find(token);
  if (found == vocabulary.ids.end()) {
    fail<NameError>(word_piece_label, "unknown token \"{}\"; the vocabulary has {} others", token, vocab_size());
  }
  return found->second;
}

const std::string& WordPieceTokenizer::id_to_token(std::int64_t id) const {
  if (id < 0 || id >= vocab_size()) {
    fail<ValueError>(word_piece_label, "ids must lie in [0, {}); got {}", vocab_size(), id);
  }
  return vocabulary_->tokens[static_cast<std::size_t>(id)];
}

}  // namespace mezzo
