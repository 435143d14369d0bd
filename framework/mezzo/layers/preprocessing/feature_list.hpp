#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/preprocessing/feature.hpp>

namespace mezzo::detail {

/// Features by the names of their columns: `{{"age", "float_normalized"}, {"city", "string_categorical"}}`.
class MEZZO_API FeatureList {
 public:
  using Entry = std::pair<std::string, Feature>;

  FeatureList() = default;
  FeatureList(std::initializer_list<Entry> features) : FeatureList(std::vector<Entry>(features)) {}
  FeatureList(const std::vector<Entry>& features);

  bool operator==(const FeatureList& other) const { return rows.empty() && other.rows.empty(); }

  std::vector<FeatureSettings> rows{};  ///< in the order given
};

/// A combination of features, `{"city", "job"}`: each pair of their values is hashed into one of crossing_dim bins.
struct FeatureCross {
  FeatureCross() = default;
  FeatureCross(std::initializer_list<std::string> names) : feature_names(names) {}
  FeatureCross(std::vector<std::string> names) : feature_names(std::move(names)) {}

  std::vector<std::string> feature_names{};    ///< two or more features with indices
  std::optional<std::int64_t> crossing_dim{};  ///< number of bins; default: that of the FeatureSpace
  std::string output_mode = "one_hot";         ///< "one_hot" or "int"

  /// "city_X_job".
  std::string name() const;
};

/// Options of FeatureSpace::cross.
struct FeatureCrossOptions {
  std::string output_mode = "one_hot";  ///< "one_hot" or "int"
};

}  // namespace mezzo::detail
