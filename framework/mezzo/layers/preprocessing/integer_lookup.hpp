#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>
#include <mezzo/layers/preprocessing/adapted.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
template <class Token>
class IndexLookup;
}

struct IntegerLookupOptions {
  std::optional<std::int64_t> max_tokens{};  ///< most tokens with the special ones, above 1; default: any number
  std::int64_t num_oov_indices = 1;          ///< number of indices of unknown integers; 0: they are errors
  std::optional<std::int64_t> mask_token{};  ///< integer of index 0 in mode "int", dropped in others
  std::int64_t oov_token = -1;               ///< integer of unknown indices with `invert`
  std::vector<std::int64_t> vocabulary{};    ///< the tokens; default: set by adapt()
  std::vector<double> idf_weights{};         ///< one for each token, for "tf_idf"
  bool invert = false;                       ///< true: maps indices to integers
  std::string output_mode = "int";           ///< "int", "one_hot", "multi_hot", "count" or "tf_idf"
  bool pad_to_max_tokens = false;            ///< true: max_tokens columns, also of a smaller vocabulary
  std::string oov_method = "floormod";       ///< index of an unknown integer among several, or "farmhash"
  std::vector<std::int64_t> salt{};          ///< key of SipHash in place of FarmHash, 1 or 2 numbers
  std::string name{};                        ///< name of the layer; "": automatic ("integer_lookup", ...)
  Policy dtype{};                            ///< precision policy; of no effect on integers
};

/// Indices of integers, as keras.layers.IntegerLookup: int64; of mode "tf_idf" float32. The vocabulary is part of saved
/// models and shared by copies, but not by those of clone(). No gradient passes it.
class MEZZO_API IntegerLookup : public Layer {
 public:
  /// A ValueError for options out of their range or that contradict each other, a NameError for unknown names.
  explicit IntegerLookup(IntegerLookupOptions options = {});

  /// Makes the most frequent integers the vocabulary; among equally frequent ones the larger comes first. Rows of axis
  /// 0 are the documents of "tf_idf". A ValueError for a layer with a given vocabulary, and if there is no integer. A
  /// ValueError too if the number of columns of an encoded mode would change after a model was built with the layer.
  void adapt(const Tensor& data);

  /// The same for a field of a data set, its first input by default.
  void adapt(const Dataset& data, const std::string& field = "");

  /// Replaces the vocabulary, with or without its special tokens in front. Errors are those of StringLookup and of
  /// adapt().
  void set_vocabulary(const std::vector<std::int64_t>& vocabulary, const std::vector<double>& idf_weights = {});

  /// The tokens, by index. False: without the mask and the unknown token.
  std::vector<std::int64_t> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;

 protected:
  /// When the step runs, floats are a DTypeError, an unknown integer with num_oov_indices 0 a ValueError.
  Value call(const Value& x) override;

 private:
  using Vocabulary = std::shared_ptr<const detail::IndexLookup<std::int64_t>>;
  const detail::IndexLookup<std::int64_t>& table() const;
  void set_table(Vocabulary changed, const char* function);

  IntegerLookupOptions options_;
  bool adaptable_ = true;
  detail::Adapted<Vocabulary> table_;
};

}  // namespace mezzo
