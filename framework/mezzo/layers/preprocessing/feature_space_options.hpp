#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <mezzo/data/tables/fill_value.hpp>
#include <mezzo/layers/preprocessing/feature_list.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Options of FeatureSpace, in Keras' order.
struct FeatureSpaceOptions {
  /// Required. Columns with the types of their features: `{{"age", "float_normalized"}, {"city",
  /// FeatureSpace::string_categorical({.max_tokens = 100})}}`. A type is the name of a function of FeatureSpace, or
  /// "float": numbers as they are.
  detail::FeatureList features{};
  std::string output_mode = "concat";           ///< "concat": one array of all features; "dict": one of each feature
  std::vector<detail::FeatureCross> crosses{};  ///< combinations of features: `{{"city", "job"}}`
  std::int64_t crossing_dim = 32;               ///< bins of crosses given by names
  std::int64_t hashing_dim = 32;                ///< bins of "integer_hashed" and "string_hashed" given by name
  std::int64_t num_discretization_bins = 32;    ///< bins of "float_discretized" given by name
  std::map<std::string, detail::FillValue> fillna{};  ///< values in place of missing ones, by column: `{{"age", 40}}`;
                                                      ///< default: missing values are errors
  std::string name{};                                 ///< name of the layer; "": automatic ("feature_space", ...)
  Policy dtype{};                                     ///< precision policy; of no effect on the encoded features
};

/// Options of FeatureSpace::dataset.
struct FeatureDatasetOptions {
  std::vector<std::string> targets{};  ///< columns that are targets
  std::vector<std::string> weights{};  ///< columns that are weights of the samples
};

}  // namespace mezzo
