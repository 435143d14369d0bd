#include <algorithm>
#include <array>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/tokenizer/aligned_text.hpp>
#include <mezzo/data/text/tokenizer/token_model.hpp>
#include <mezzo/data/text/tokenizer/token_trie.hpp>

namespace mezzo::detail {
namespace {

constexpr double unknown_penalty = 10;  // below the lowest score

class UnigramModel final : public TokenModel {
 public:
  UnigramModel(TokenVocabulary vocabulary_of_model, std::vector<double> scores, std::optional<std::uint32_t> unk_id,
               bool byte_fallback)
      : TokenModel(std::move(vocabulary_of_model)), scores_(std::move(scores)), unk_id_(unk_id) {
    // A token that comes twice has its later id.
    vocabulary().for_each(
        [&](const std::string& token, std::uint32_t) { trie_.add(token, *vocabulary().find(token)); });
    double lowest = std::numeric_limits<double>::infinity();
    for (const double score : scores_) lowest = std::min(lowest, score);
    unknown_score_ = lowest - unknown_penalty;
    for (unsigned byte = 0; byte < 256 && byte_fallback; ++byte) {
      byte_tokens_[byte] = byte_token(vocabulary(), static_cast<unsigned char>(byte));
    }
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& out) const override {
    const std::vector<Best> best = best_paths(piece);
    // Backwards: unknown tokens in a row become one.
    std::vector<ModelToken> reversed;
    for (std::uint32_t end = static_cast<std::uint32_t>(piece.size()); end > 0; end = best[end].begin) {
      const Best& one = best[end];
      if (one.is_unknown && !reversed.empty() && reversed.back().is_literal) {
        reversed.back().begin = one.begin;
      } else {
        reversed.push_back({one.id, one.begin, end, one.is_unknown});
      }
    }
    for (auto token = reversed.rbegin(); token != reversed.rend(); ++token) add(piece, *token, out);
  }

 private:
  /// Best tokens of the text up to a byte: the last of them, and the score of all.
  struct Best {
    double score = 0;
    std::uint32_t id = 0;
    std::uint32_t begin = 0;
    bool is_reached = false, is_unknown = false;
  };

  std::vector<Best> best_paths(std::string_view piece) const {
    std::vector<Best> best(piece.size() + 1);
    for (std::size_t begin = 0; begin < piece.size();) {
      const std::size_t character = character_length(piece[begin]);
      bool has_character = false;
      const auto offer = [&](std::size_t end, double score, std::uint32_t id, bool is_unknown) {
        const double total = score + best[begin].score;
        if (best[end].is_reached && total <= best[end].score) return;
        best[end] = {total, id, static_cast<std::uint32_t>(begin), true, is_unknown};
      };
      std::uint32_t node = 0;
      for (std::size_t at = begin; at < piece.size(); ++at) {
        node = trie_.next(node, piece[at]);
        if (node == TokenTrie::none) break;
        const std::uint32_t id = trie_.token(node);
        if (id == TokenTrie::none) continue;
        offer(at + 1, scores_[id], id, unk_id_ == id);
        has_character = has_character || at + 1 == begin + character;
      }
      if (!has_character) {
        if (!unk_id_) fail<ValueError>("[Tokenizer]", "a Unigram model without unk_id must know every character");
        offer(begin + character, unknown_score_, *unk_id_, true);
      }
      begin += character;
    }
    return best;
  }

  void add(std::string_view piece, const ModelToken& token, std::vector<ModelToken>& out) const {
    if (!token.is_literal) return out.push_back(token);
    const std::string_view text = piece.substr(token.begin, token.end - token.begin);
    if (const auto known = vocabulary().find(text)) return out.push_back({*known, token.begin, token.end});
    const auto of_byte = [&](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
    if (!std::all_of(text.begin(), text.end(), [&](char byte) { return of_byte(byte).has_value(); })) {
      return out.push_back(token);
    }
    for (const char byte : text) out.push_back({*of_byte(byte), token.begin, token.end});
  }

  std::vector<double> scores_;
  std::optional<std::uint32_t> unk_id_;
  TokenTrie trie_;
  double unknown_score_ = 0;
  std::array<std::optional<std::uint32_t>, 256> byte_tokens_{};
};

}  // namespace

TokenModelPtr unigram_model(TokenVocabulary vocabulary, std::vector<double> scores, std::optional<std::uint32_t> unk_id,
                            bool byte_fallback) {
  return std::make_unique<UnigramModel>(std::move(vocabulary), std::move(scores), unk_id, byte_fallback);
}

}  // namespace mezzo::detail
