#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/text/string_lookup.hpp>

namespace mezzo {

namespace detail {
/// A step of TextVectorization: a name, a function of a text, or std::nullopt (none).
template <class Result>
class TextStep {
 public:
  using Function = std::function<Result(const std::string& text)>;

  TextStep(const char* name) : name_(name) {}
  TextStep(std::string name) : name_(std::move(name)) {}
  TextStep(std::nullopt_t) : none_(true) {}
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Result, const F&, const std::string&>>>
  TextStep(F step) : function_(std::move(step)) {}

  const std::string& name() const { return name_; }
  const Function& function() const { return function_; }
  bool none() const { return none_; }

 private:
  std::string name_;
  Function function_;
  bool none_ = false;
};
}  // namespace detail

/// Options of TextVectorization, in Keras' order.
struct TextVectorizationOptions {
  std::optional<std::int64_t> max_tokens{};  ///< most tokens with "" and "[UNK]", above 1; default: any number
  /// "lower_and_strip_punctuation", "lower", "strip_punctuation" (of ASCII, as in Keras), a function, or std::nullopt.
  detail::TextStep<std::string> standardize = "lower_and_strip_punctuation";
  /// "whitespace" (of ASCII), "character", a function, or std::nullopt: strings are tokens.
  detail::TextStep<std::vector<std::string>> split = "whitespace";
  std::vector<std::int64_t> ngrams{};  ///< lengths of n-grams; Keras' `ngrams=2` is {1, 2}; default: {1}, the tokens
  std::string output_mode = "int";     ///< "int", "one_hot", "multi_hot", "count" or "tf_idf"
  std::optional<std::int64_t> output_sequence_length{};  ///< length of rows in mode "int", cut or padded with 0;
                                                         ///< default: the longest
  bool pad_to_max_tokens = false;                        ///< true: max_tokens columns, also of a smaller vocabulary
  std::vector<std::string> vocabulary{};                 ///< the tokens; default: set by adapt()
  std::vector<double> idf_weights{};                     ///< one for each token, for "tf_idf"
};

/// Numbers of texts, as keras.layers.TextVectorization: standardizes, splits into tokens, joins n-grams by spaces and
/// looks the tokens up. Index 0 is padding, 1 an unknown token. Strings exist in data sets, never in steps:
///
///     TextVectorization vectorize({.max_tokens = 20000, .output_sequence_length = 200});
///     vectorize.adapt(texts);
///     model.fit(texts.map(vectorize), {.epochs = 3});
///
/// Calls are thread safe. Keras' `ragged` and `sparse` are left out: tensors here are dense.
class MEZZO_API TextVectorization {
 public:
  /// A ValueError for options out of their range or that contradict each other, a NameError for unknown names.
  explicit TextVectorization(TextVectorizationOptions options = {});

  /// Makes the most frequent tokens of the texts the vocabulary; among equally frequent ones the larger comes first.
  /// Errors are those of StringLookup.
  void adapt(const Strings& texts);
  void adapt(const TextDataset& texts);

  /// Replaces the vocabulary, as StringLookup::set_vocabulary(). `idf_weights`: one weight per token, for output_mode
  /// "tf_idf".
  void set_vocabulary(const std::vector<std::string>& vocabulary, const std::vector<double>& idf_weights = {});

  /// Tokens in the order of their ids, with padding and out-of-vocabulary token first if `include_special_tokens`.
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;  ///< with the special tokens

  /// Texts of shape (), (count,) or (count, 1): indices (count, length), int64, or rows (count, size) in other modes.
  /// Without `split`, strings of any shape are tokens along the last axis. A ShapeError for another shape, a ValueError
  /// without a vocabulary.
  Tensor operator()(const Strings& texts) const;

  const TextVectorizationOptions& options() const { return options_; }  ///< as given to the constructor

 private:
  std::vector<std::string> tokens(const std::string& text) const;

  TextVectorizationOptions options_;
  StringLookup lookup_;
};

}  // namespace mezzo
