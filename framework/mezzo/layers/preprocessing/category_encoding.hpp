#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/text/strings.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct CategoryEncodingOptions {
  std::int64_t num_tokens = 0;            ///< required; number of categories
  std::string output_mode = "multi_hot";  ///< "multi_hot", "one_hot" or "count"
  std::string name{};                     ///< name of the layer; "": automatic ("category_encoding", ...)
  Policy dtype{};                         ///< precision policy; default: the policy of the enclosing layer or model
};

/// Integers as rows of num_tokens numbers of the compute dtype: "one_hot" of each (a last axis of size 1 is dropped
/// first), "multi_hot" and "count" over axis 1. A second input of the same shape weights "count". An integer outside
/// [0, num_tokens) is a ValueError when the step runs. No gradient passes it.
class MEZZO_API CategoryEncoding : public Layer {
 public:
  /// A ValueError for num_tokens below 1, a NameError for an unknown output_mode.
  explicit CategoryEncoding(CategoryEncodingOptions options = {});

  /// Positional: `CategoryEncoding(4)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit CategoryEncoding(I num_tokens, CategoryEncodingOptions options = {})
      : CategoryEncoding(detail::positional("CategoryEncoding", options.name, "num_tokens",
                                            &CategoryEncodingOptions::num_tokens, static_cast<std::int64_t>(num_tokens),
                                            options)) {}

 protected:
  Values call_many(const Values& xs) override;

 private:
  CategoryEncodingOptions options_;
};

struct HashingOptions {
  std::int64_t num_bins = 0;              ///< required; number of bins, with that of mask_value
  std::vector<std::string> mask_value{};  ///< a string, or an integer as text, for which bin 0 is reserved; {}: none
  std::vector<std::int64_t> salt{};       ///< key of SipHash, 1 or 2 numbers; {}: FarmHash
  std::string output_mode = "int";        ///< "int" (int64), "one_hot", "multi_hot" or "count" (compute dtype)
  std::string name{};                     ///< name of the layer; "": automatic ("hashing", "hashing_1")
  Policy dtype{};                         ///< precision policy; default: the policy of the enclosing layer or model
};

/// Bins of integers or strings by their hash, the bins of Keras. Integers are hashed as their text. No gradient passes
/// it.
class MEZZO_API Hashing : public Layer {
 public:
  /// A ValueError for num_bins below 1, more than one mask_value or more than two numbers of salt, a NameError for an
  /// unknown output_mode.
  explicit Hashing(HashingOptions options = {});

  /// Positional: `Hashing(3)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit Hashing(I num_bins, HashingOptions options = {})
      : Hashing(detail::positional("Hashing", options.name, "num_bins", &HashingOptions::num_bins,
                                   static_cast<std::int64_t>(num_bins), options)) {}

  /// Bins of strings of a data set: `texts.map([=](const Strings& text) { return hashing.of_strings(text); })`. Thread
  /// safe. Encoded modes are float32.
  Tensor of_strings(const Strings& strings) const;

 protected:
  Value call(const Value& x) override;

 private:
  HashingOptions options_;
};

}  // namespace mezzo
