#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/encode_categories.hpp>

namespace mezzo::detail {

/// Checked settings of a table of tokens: those of Keras' IndexLookup.
template <class Token>
struct LookupSettings {
  std::string where;
  std::optional<std::int64_t> max_tokens;
  std::int64_t num_oov_indices = 1;
  std::optional<Token> mask_token;
  Token oov_token{};
  bool invert = false;
  std::string output_mode = "int";
  bool pad_to_max_tokens = false;
};

/// Remainder in [0, divisor), as Python's `%`: Keras' place of an unknown integer among several.
inline std::int64_t floor_mod(std::int64_t number, std::int64_t divisor) {
  return (number % divisor + divisor) % divisor;
}

/// Counts of tokens in documents.
template <class Token>
struct TokenCounts {
  std::map<Token, std::int64_t> counts, documents_with;
  std::int64_t documents = 0;

  void add(const std::vector<Token>& document) {
    for (const Token& token : document) ++counts[token];
    ++documents;
    if (document.size() == 1) {
      ++documents_with[document.front()];
    } else {
      for (const Token& token : std::set<Token>(document.begin(), document.end())) ++documents_with[token];
    }
  }
};

/// A vocabulary: tokens to indices and back. First the mask's index (in mode "int"), then those of unknown tokens.
template <class Token>
class IndexLookup {
 public:
  explicit IndexLookup(LookupSettings<Token> settings) : settings_(std::move(settings)) {
    const auto& where = settings_.where;
    if (settings_.max_tokens && *settings_.max_tokens <= 1) {
      fail<ValueError>(where, "max_tokens must be above 1; got {}", *settings_.max_tokens);
    }
    if (settings_.pad_to_max_tokens && !settings_.max_tokens) {
      fail<ValueError>(where, "max_tokens must be given with pad_to_max_tokens");
    }
    if (settings_.num_oov_indices < 0) {
      fail<ValueError>(where, "num_oov_indices must not be negative; got {}", settings_.num_oov_indices);
    }
    check_output_mode(settings_.output_mode, where, true, true);
    if (settings_.invert && settings_.output_mode != "int") {
      fail<ValueError>(where, "output_mode must be \"int\" with invert; got \"{}\"", settings_.output_mode);
    }
  }

  const LookupSettings<Token>& settings() const { return settings_; }
  bool is_int() const { return settings_.output_mode == "int"; }
  /// First index of unknown tokens, and of known ones.
  std::int64_t oov_start() const { return settings_.mask_token && is_int() ? 1 : 0; }
  std::int64_t token_start() const { return oov_start() + settings_.num_oov_indices; }
  std::int64_t size() const { return token_start() + static_cast<std::int64_t>(tokens_.size()); }
  /// Columns of the encoded modes.
  std::int64_t depth() const { return settings_.pad_to_max_tokens ? *settings_.max_tokens : size(); }
  const std::vector<Token>& tokens() const { return tokens_; }
  const std::vector<double>& idf_weights() const { return idf_weights_; }

  void require_vocabulary() const {
    if (tokens_.empty()) {
      fail<ValueError>(settings_.where,
                       "there is no vocabulary; give `vocabulary` or call adapt() or set_vocabulary()");
    }
  }

  std::vector<Token> vocabulary(bool include_special_tokens) const {
    std::vector<Token> all;
    if (include_special_tokens) {
      if (oov_start() == 1) all.push_back(*settings_.mask_token);
      all.insert(all.end(), static_cast<std::size_t>(settings_.num_oov_indices), settings_.oov_token);
    }
    all.insert(all.end(), tokens_.begin(), tokens_.end());
    return all;
  }

  void set_vocabulary(const std::vector<Token>& vocabulary, const std::vector<double>& idf_weights) {
    const auto& where = settings_.where;
    const bool idf = settings_.output_mode == "tf_idf";
    if (vocabulary.empty()) fail<ValueError>(where, "vocabulary must have tokens; got none");
    if (idf != !idf_weights.empty()) {
      fail<ValueError>(where,
                       "idf_weights must be given for output_mode \"tf_idf\", and for no other; got {} for \"{}\"",
                       idf_weights.size(), settings_.output_mode);
    }
    if (idf && idf_weights.size() != vocabulary.size()) {
      fail<ValueError>(where, "idf_weights must have {} numbers, as the vocabulary has; got {}", vocabulary.size(),
                       idf_weights.size());
    }
    const auto start = static_cast<std::size_t>(token_start());
    const bool with_special = vocabulary.size() >= start && starts_with_special(vocabulary);
    const std::vector<Token> tokens(vocabulary.begin() + (with_special ? static_cast<std::ptrdiff_t>(start) : 0),
                                    vocabulary.end());
    std::set<Token> once;
    for (const Token& token : tokens) {
      if (!once.insert(token).second) fail<ValueError>(where, "tokens must differ; got {:?} twice", shown(token));
      const bool mask = settings_.mask_token && token == *settings_.mask_token;
      if (mask || (settings_.invert && token == settings_.oov_token)) {
        fail<ValueError>(where, "the {} {:?} must be in front of the vocabulary or left out",
                         mask ? "mask" : "oov_token", shown(token));
      }
    }
    if (settings_.max_tokens && token_start() + static_cast<std::int64_t>(tokens.size()) > *settings_.max_tokens) {
      fail<ValueError>(where, "the vocabulary must have at most max_tokens {} with {} special tokens; got {}",
                       *settings_.max_tokens, start, start + tokens.size());
    }
    set_tokens(tokens);
    if (!idf) return;
    idf_weights_ = idf_weights;
    if (!with_special) {
      const double mean =
          std::accumulate(idf_weights.begin(), idf_weights.end(), 0.0) / static_cast<double>(idf_weights.size());
      idf_weights_.insert(idf_weights_.begin(), start, mean);
    }
    idf_weights_.resize(static_cast<std::size_t>(depth()));
  }

  /// The most frequent tokens become the vocabulary; the larger one of equally frequent tokens first.
  void adapt(const TokenCounts<Token>& counted) {
    std::map<Token, std::int64_t> counts = counted.counts;
    if (settings_.mask_token) counts.erase(*settings_.mask_token);
    counts.erase(settings_.oov_token);
    std::vector<std::pair<std::int64_t, Token>> sorted;
    for (const auto& [token, count] : counts) sorted.emplace_back(count, token);
    std::sort(sorted.rbegin(), sorted.rend());
    if (settings_.max_tokens) {
      const std::int64_t most = std::max<std::int64_t>(0, *settings_.max_tokens - token_start());
      sorted.resize(std::min(sorted.size(), static_cast<std::size_t>(most)));
    }
    std::vector<Token> tokens;
    for (const auto& entry : sorted) tokens.push_back(entry.second);
    if (tokens.empty()) fail<ValueError>(settings_.where, "adapt: the data must have tokens; got none");
    set_tokens(tokens);
    if (settings_.output_mode != "tf_idf") return;
    for (const Token& token : tokens) {
      const double with = 1 + static_cast<double>(counted.documents_with.at(token));
      idf_weights_.push_back(std::log(1 + static_cast<double>(counted.documents) / with));
    }
    const double mean =
        std::accumulate(idf_weights_.begin(), idf_weights_.end(), 0.0) / static_cast<double>(idf_weights_.size());
    idf_weights_.insert(idf_weights_.begin(), static_cast<std::size_t>(token_start()), mean);
    idf_weights_.resize(static_cast<std::size_t>(depth()));
  }

  /// Index of a token; `unknown` returns the place, in [0, num_oov_indices), of a token that is not in the vocabulary.
  template <class Unknown>
  std::int64_t index_of(const Token& token, const Unknown& unknown) const {
    if (settings_.mask_token && token == *settings_.mask_token) return is_int() ? 0 : no_category;
    const auto found = indices_.find(token);
    if (found != indices_.end()) return found->second;
    if (settings_.num_oov_indices == 0) {
      fail<ValueError>(settings_.where, "{:?} is not in the vocabulary; use num_oov_indices = 1 for unknown tokens",
                       shown(token));
    }
    return oov_start() + (settings_.num_oov_indices == 1 ? 0 : unknown(token));
  }

  /// Token of an index: the mask token for its index, the unknown token for indices without a token.
  const Token& token_of(std::int64_t index) const {
    if (settings_.mask_token && index == 0) return *settings_.mask_token;
    const std::int64_t place = index - token_start();
    return place >= 0 && place < static_cast<std::int64_t>(tokens_.size()) ? tokens_[static_cast<std::size_t>(place)]
                                                                           : settings_.oov_token;
  }

  /// Indices in the output mode: int64, or float32 for "tf_idf".
  Tensor encoded(const Tensor& indices) const {
    const std::string& mode = settings_.output_mode;
    if (mode != "tf_idf") return encode_categories(indices, mode, depth(), DType::int64, settings_.where);
    Tensor counts = encode_categories(indices, "count", depth(), DType::float64, settings_.where);
    auto* numbers = counts.mutable_data<double>();
    for (std::int64_t i = 0; i < counts.size(); ++i) numbers[i] *= idf_weights_[static_cast<std::size_t>(i % depth())];
    return counts.cast(DType::float32);
  }

 private:
  static std::string shown(const std::string& token) { return token; }
  static std::string shown(std::int64_t token) { return std::to_string(token); }

  /// True if a vocabulary has the special tokens in front. Makes no list of them: num_oov_indices may be large.
  bool starts_with_special(const std::vector<Token>& vocabulary) const {
    const auto begin = vocabulary.begin() + oov_start();
    return (oov_start() == 0 || vocabulary.front() == *settings_.mask_token) &&
           std::all_of(begin, begin + settings_.num_oov_indices,
                       [&](const Token& token) { return token == settings_.oov_token; });
  }

  void set_tokens(const std::vector<Token>& tokens) {
    tokens_ = tokens;
    indices_.clear();
    idf_weights_.clear();
    std::int64_t index = token_start();
    for (const Token& token : tokens) indices_[token] = index++;
  }

  LookupSettings<Token> settings_;
  std::vector<Token> tokens_;
  std::unordered_map<Token, std::int64_t> indices_;
  std::vector<double> idf_weights_;  // of all columns
};

}  // namespace mezzo::detail
