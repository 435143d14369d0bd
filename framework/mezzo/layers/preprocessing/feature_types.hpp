#pragma once
#include <string>

#include <mezzo/layers/preprocessing/feature.hpp>

namespace mezzo::detail {

/// Types of the features of a FeatureSpace.
enum class FeatureType {
  plain,
  normalized,
  rescaled,
  discretized,
  integer_categorical,
  string_categorical,
  integer_hashed,
  string_hashed,
};

/// The type of a name. Throws a NameError that starts with `where` for an unknown one.
FeatureType feature_type(const std::string& name, const std::string& where);

/// True if a type's result is an index, which may be one-hot encoded and crossed.
bool has_index(FeatureType type);

/// True if a type takes integers or texts.
bool takes_integers(FeatureType type);
bool takes_texts(FeatureType type);

/// True if a feature needs adapt().
bool is_adaptable(const FeatureSettings& feature);

/// Throws a ValueError or NameError that starts with `where` for arguments out of their range or that contradict each
/// other, and for members of a file that do not fit.
void check_feature(const FeatureSettings& feature, const std::string& where);

/// Throws a NameError unless the mode is "int" or "one_hot".
void check_feature_mode(const std::string& mode, const std::string& where);

/// Most columns of one feature, and of all together.
constexpr std::int64_t most_feature_columns = std::int64_t{1} << 31;

}  // namespace mezzo::detail
