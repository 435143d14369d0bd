#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/text/text_dataset.hpp>

namespace mezzo {

namespace detail {
template <class Token>
class IndexLookup;
}

/// Options of StringLookup, in Keras' order.
struct StringLookupOptions {
  std::optional<std::int64_t> max_tokens{};  ///< most tokens with the special ones, above 1; default: any number
  std::int64_t num_oov_indices = 1;          ///< number of indices of unknown strings; 0: they are errors
  std::optional<std::string> mask_token{};   ///< string of index 0 in mode "int", dropped in others
  std::string oov_token = "[UNK]";           ///< string of unknown indices with `invert`
  std::vector<std::string> vocabulary{};     ///< the tokens; default: set by adapt()
  std::vector<double> idf_weights{};         ///< one for each token, for "tf_idf"
  bool invert = false;                       ///< true: maps indices to strings
  std::string output_mode = "int";           ///< "int", "one_hot", "multi_hot", "count" or "tf_idf"
  bool pad_to_max_tokens = false;            ///< true: max_tokens columns, also of a smaller vocabulary
  std::vector<std::int64_t> salt{};  ///< key of SipHash for several unknown indices, 1 or 2 numbers; default: FarmHash
};

/// Indices of strings, as keras.layers.StringLookup. Strings exist in data sets, never in steps: apply the lookup to a
/// data set, `texts.map(lookup)`, and pass the indices to a model. Copies share the vocabulary of the time of the copy.
/// Calls are thread safe. Indices are those of Keras, also for unknown strings with num_oov_indices above 1.
class MEZZO_API StringLookup {
 public:
  /// A ValueError for options out of their range or that contradict each other, a NameError for an unknown output_mode.
  explicit StringLookup(StringLookupOptions options = {});

  /// Makes the most frequent strings the vocabulary; among equally frequent ones the larger comes first. Rows of
  /// `data`, or elements of a list, are the documents of "tf_idf". A ValueError for a layer with a given vocabulary,
  /// and if there is no string.
  void adapt(const Strings& data);

  /// Replaces the vocabulary, with or without its special tokens in front. A ValueError for an empty one, repeated
  /// tokens, or more than max_tokens.
  void set_vocabulary(const std::vector<std::string>& vocabulary, const std::vector<double>& idf_weights = {});

  /// The tokens, by index. False: without the mask and the unknown token.
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;

  /// Indices (int64, the strings' shape), or their "one_hot" (..., size), "multi_hot" and "count" rows (int64), or
  /// "tf_idf" (float32). A ValueError without a vocabulary, and for an unknown string with num_oov_indices 0.
  Tensor operator()(const Strings& strings) const;

  /// Strings of indices, with `invert`; oov_token for indices without a string. A DTypeError for floats.
  Strings operator()(const Tensor& indices) const;

  const StringLookupOptions& options() const { return options_; }  ///< as given to the constructor

 private:
  friend class TextVectorization;
  StringLookup(StringLookupOptions options, std::string where);

  StringLookupOptions options_;
  std::string where_;  // start of error texts
  bool adaptable_ = true;
  std::shared_ptr<const detail::IndexLookup<std::string>> table_;
};

}  // namespace mezzo
