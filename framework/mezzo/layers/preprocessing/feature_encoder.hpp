#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/data/text/index_lookup.hpp>
#include <mezzo/layers/preprocessing/feature_types.hpp>
#include <mezzo/layers/preprocessing/feature_values.hpp>

namespace mezzo::detail {

/// An empty vocabulary with the arguments of a feature: Keras' StringLookup (std::string) or IntegerLookup.
template <class Token>
IndexLookup<Token> lookup_of(const FeatureSettings& feature, Token oov_token, const std::string& where) {
  LookupSettings<Token> settings;
  settings.where = where;
  settings.max_tokens = feature.max_tokens;
  settings.num_oov_indices = feature.num_oov_indices;
  settings.oov_token = std::move(oov_token);
  return IndexLookup<Token>(std::move(settings));
}
IndexLookup<std::string> string_lookup_of(const FeatureSettings& feature, const std::string& where);
IndexLookup<std::int64_t> integer_lookup_of(const FeatureSettings& feature, const std::string& where);

/// Computes an adapted feature's number or index. Const functions are thread safe.
class FeatureEncoder {
 public:
  /// Throws the errors of check_feature(), and a ValueError for a vocabulary that isn't one of the type's tokens.
  FeatureEncoder(const FeatureSettings& feature, const std::string& where);

  FeatureType type() const { return type_; }
  /// Number of indices; 1 for a float.
  std::int64_t categories() const { return categories_; }

  /// The number of a row, for types without index.
  float number(const FeatureValues& values, std::int64_t row) const;

  /// The index of a row, in [0, categories()). Throws a ValueError for an unknown value if num_oov_indices is 0.
  std::int64_t index(const FeatureValues& values, std::int64_t row) const;

  /// Tokens of a categorical feature as text, with those of unknown values in front.
  std::vector<std::string> vocabulary() const;

 private:
  FeatureType type_;
  std::int64_t categories_ = 1;
  float scale_ = 1, offset_ = 0, mean_ = 0, deviation_ = 1;
  std::vector<double> boundaries_;
  std::optional<IndexLookup<std::string>> strings_;
  std::optional<IndexLookup<std::int64_t>> integers_;
};

}  // namespace mezzo::detail
