#include <algorithm>
#include <array>
#include <functional>
#include <queue>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/tokenizer/aligned_text.hpp>
#include <mezzo/data/text/tokenizer/flat_map.hpp>
#include <mezzo/data/text/tokenizer/token_model.hpp>

namespace mezzo::detail {
namespace {

constexpr std::int32_t no_symbol = -1;

/// A token of a word while pairs are merged, in a doubly linked list. A removed one has length 0.
struct Symbol {
  std::uint32_t id = 0;
  std::uint32_t length = 0;  // in bytes
  std::int32_t previous = no_symbol, next = no_symbol;
};

class SymbolList {
 public:
  void add(std::uint32_t id, std::size_t length) {
    const auto at = static_cast<std::int32_t>(symbols_.size());
    if (at > 0) symbols_.back().next = at;
    symbols_.push_back({id, static_cast<std::uint32_t>(length), at - 1, no_symbol});
  }

  /// Merges pairs, the one of the lowest rank first and of equal ranks the first one.
  void merge(const FlatMap& ranks, const std::vector<std::uint32_t>& merged) {
    for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) push(ranks, static_cast<std::int32_t>(i));
    while (!queue_.empty()) {
      const auto rank = static_cast<std::uint32_t>(queue_.top() >> 32U);
      const auto at = static_cast<std::int32_t>(queue_.top() & 0xFFFFFFFFU);
      queue_.pop();
      Symbol& left = symbol(at);
      if (left.length == 0 || rank_at(ranks, at) != rank) continue;  // the pair has changed
      Symbol& right = symbol(left.next);
      left.id = merged[rank];
      left.length += right.length;
      left.next = right.next;
      right.length = 0;
      if (left.next != no_symbol) symbol(left.next).previous = at;
      if (left.previous != no_symbol) push(ranks, left.previous);
      push(ranks, at);
    }
  }

  void append_to(std::vector<ModelToken>& out) const {
    std::uint32_t begin = 0;
    for (const Symbol& one : symbols_) {
      if (one.length == 0) continue;
      out.push_back({one.id, begin, begin + one.length});
      begin += one.length;
    }
  }

 private:
  Symbol& symbol(std::int32_t at) { return symbols_[static_cast<std::size_t>(at)]; }

  std::uint32_t rank_at(const FlatMap& ranks, std::int32_t at) {
    const Symbol& left = symbol(at);
    if (left.next == no_symbol) return FlatMap::none;
    return ranks.find(std::uint64_t{left.id} << 32U | symbol(left.next).id);
  }

  void push(const FlatMap& ranks, std::int32_t at) {
    const std::uint32_t rank = rank_at(ranks, at);
    if (rank != FlatMap::none) queue_.push(std::uint64_t{rank} << 32U | static_cast<std::uint32_t>(at));
  }

  std::vector<Symbol> symbols_;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> queue_;  // rank and place
};

class BpeModel final : public TokenModel {
 public:
  BpeModel(TokenVocabulary vocabulary_of_model, const BpeOptions& options, const std::string& where)
      : TokenModel(std::move(vocabulary_of_model)),
        unk_token_(options.unk_token),
        prefix_(options.continuing_subword_prefix),
        suffix_(options.end_of_word_suffix),
        fuse_unk_(options.fuse_unk),
        ignore_merges_(options.ignore_merges) {
    for (const auto& [left, right] : options.merges) add_merge(left, right, where);
    if (options.byte_fallback) {
      for (unsigned byte = 0; byte < 256; ++byte) {
        byte_tokens_[byte] = byte_token(vocabulary(), static_cast<unsigned char>(byte));
      }
    }
    find_whole_words();
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& out) const override {
    const auto id = vocabulary().find(piece);
    if (id && (ignore_merges_ || is_whole_[*id])) {
      return out.push_back({*id, 0, static_cast<std::uint32_t>(piece.size())});
    }
    merge(piece, out);
  }

 private:
  void add_merge(const std::string& left, const std::string& right, const std::string& where) {
    const auto id_of = [&](const std::string& token) {
      const auto id = vocabulary().find(token);
      if (!id) fail<FileError>(where, "the merge \"{} {}\" needs the token \"{}\"", left, right, token);
      return std::uint64_t{*id};
    };
    if (right.size() < prefix_.size()) {
      fail<FileError>(where, "the second token of the merge \"{} {}\" must start with \"{}\"", left, right, prefix_);
    }
    const std::uint64_t pair = id_of(left) << 32U | id_of(right);
    ranks_.set(pair, static_cast<std::uint32_t>(merged_.size()));
    merged_.push_back(static_cast<std::uint32_t>(id_of(left + right.substr(prefix_.size()))));
  }

  /// Finds the tokens that are the only token of their own text: most words need no merging then.
  void find_whole_words() {
    constexpr std::size_t longest = 64;  // in bytes
    std::vector<ModelToken> tokens;
    vocabulary().for_each([&](const std::string& token, std::uint32_t id) {
      is_whole_.resize(id + 1, false);
      if (token.empty() || token.size() > longest || ignore_merges_) return;
      if (unk_token_ && !vocabulary().find(*unk_token_)) return;
      tokens.clear();
      merge(token, tokens);
      is_whole_[id] = tokens.size() == 1 && tokens[0].id == id && vocabulary().find(token) == id;
    });
  }

  void merge(std::string_view piece, std::vector<ModelToken>& out) const {
    SymbolList symbols;
    std::size_t unknown = 0;  // bytes of the unknown token that is not added yet
    std::string affixed;
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t length = character_length(piece[at]);
      std::string_view character = piece.substr(at, length);
      if ((at > 0 && !prefix_.empty()) || (at + length == piece.size() && !suffix_.empty())) {
        affixed = (at > 0 ? prefix_ : "") + std::string(character);
        if (at + length == piece.size()) affixed += suffix_;
        character = affixed;
      }
      at += length;
      if (const auto id = vocabulary().find(character)) {
        flush_unknown(unknown, symbols);
        symbols.add(*id, length);
      } else if (!add_bytes(character, symbols) && unk_token_) {
        if (!fuse_unk_) flush_unknown(unknown, symbols);
        unknown += length;
      }
    }
    flush_unknown(unknown, symbols);
    symbols.merge(ranks_, merged_);
    symbols.append_to(out);
  }

  void flush_unknown(std::size_t& length, SymbolList& symbols) const {
    if (length == 0) return;
    const auto id = vocabulary().find(*unk_token_);
    if (!id) fail<ValueError>("[Tokenizer]", "the vocabulary must have the unknown token \"{}\"", *unk_token_);
    symbols.add(*id, length);
    length = 0;
  }

  /// Adds a token for each byte; false if one has none.
  bool add_bytes(std::string_view character, SymbolList& symbols) const {
    const auto token = [&](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
    if (!std::all_of(character.begin(), character.end(), [&](char byte) { return token(byte).has_value(); })) {
      return false;
    }
    for (const char byte : character) symbols.add(*token(byte), 1);
    return true;
  }

  std::optional<std::string> unk_token_;
  std::string prefix_, suffix_;
  bool fuse_unk_, ignore_merges_;
  FlatMap ranks_;                      // of pairs of ids
  std::vector<std::uint32_t> merged_;  // id by rank
  std::array<std::optional<std::uint32_t>, 256> byte_tokens_{};
  std::vector<bool> is_whole_;  // by id
};

}  // namespace

TokenModelPtr bpe_model(TokenVocabulary vocabulary, const BpeOptions& options, const std::string& where) {
  return std::make_unique<BpeModel>(std::move(vocabulary), options, where);
}

std::optional<std::uint32_t> byte_token(const TokenVocabulary& vocabulary, unsigned char byte) {
  return vocabulary.find(fmt::format("<0x{:02X}>", byte));
}

}  // namespace mezzo::detail
