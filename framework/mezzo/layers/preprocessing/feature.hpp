#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// A feature as configs hold it: its type, its arguments, and what adapt() has found.
struct FeatureSettings {
  std::string name{};                        ///< name of the column
  std::string type{};                        ///< "float_normalized", ...
  double scale = 1;                          ///< of "float_rescaled"
  double offset = 0;                         ///< of "float_rescaled"
  std::optional<std::int64_t> num_bins{};    ///< of "float_discretized" and hashed features
  std::vector<double> bin_boundaries{};      ///< of "float_discretized": given, or found by adapt()
  std::optional<std::int64_t> max_tokens{};  ///< of categorical features
  std::int64_t num_oov_indices = 1;          ///< of categorical features
  std::string output_mode = "one_hot";       ///< "one_hot" or "int"; of no meaning for floats
  bool adapted = false;                      ///< true: adapt() has set the members below and bin_boundaries
  double mean = 0;                           ///< of "float_normalized"
  double variance = 1;                       ///< of "float_normalized"
  std::vector<std::string> vocabulary{};     ///< of categorical features, without special tokens; integers as text
};

/// Options of FeatureSpace::float_discretized.
struct DiscretizedFeatureOptions {
  std::optional<std::int64_t> num_bins{};  ///< number of bins that adapt() makes; this or bin_boundaries is required
  std::vector<double> bin_boundaries{};    ///< in ascending order
  std::string output_mode = "one_hot";     ///< "one_hot" or "int"
};

/// Options of FeatureSpace::integer_categorical and string_categorical.
struct CategoricalFeatureOptions {
  std::optional<std::int64_t> max_tokens{};  ///< most tokens with those of unknown values, above 1; default: any number
  std::int64_t num_oov_indices = 1;          ///< number of indices of unknown values; 0: they are errors
  std::string output_mode = "one_hot";       ///< "one_hot" or "int"
};

/// Options of FeatureSpace::integer_hashed and string_hashed.
struct HashedFeatureOptions {
  std::int64_t num_bins = 0;            ///< required; number of bins
  std::string output_mode = "one_hot";  ///< "one_hot" or "int"
};

/// Type and arguments of a feature: the name of a type, "string_categorical", or the result of a function of
/// FeatureSpace.
class MEZZO_API Feature {
 public:
  /// A type with its default arguments. Throws a NameError for an unknown one.
  Feature(const char* type) : Feature(std::string(type)) {}
  Feature(const std::string& type);
  explicit Feature(FeatureSettings settings) : settings_(std::move(settings)) {}

  const FeatureSettings& settings() const { return settings_; }

 private:
  FeatureSettings settings_;
};

}  // namespace mezzo::detail
