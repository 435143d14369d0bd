#include <mezzo/layers/preprocessing/feature_types.hpp>

#include <array>
#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/preprocessing/feature_list.hpp>
#include <mezzo/layers/preprocessing/quantile_summary.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo::detail {
namespace {

struct TypeRow {
  const char* name;
  FeatureType type;
};

constexpr std::array type_rows{
    TypeRow{"float", FeatureType::plain},
    TypeRow{"float_discretized", FeatureType::discretized},
    TypeRow{"float_normalized", FeatureType::normalized},
    TypeRow{"float_rescaled", FeatureType::rescaled},
    TypeRow{"integer_categorical", FeatureType::integer_categorical},
    TypeRow{"integer_hashed", FeatureType::integer_hashed},
    TypeRow{"string_categorical", FeatureType::string_categorical},
    TypeRow{"string_hashed", FeatureType::string_hashed},
};

void check_count(const char* name, std::int64_t count, const std::string& where) {
  if (count < 1 || count > most_feature_columns) {
    fail<ValueError>(where, "{} must lie in [1, {}]; got {}", name, most_feature_columns, count);
  }
}

/// Throws a ValueError for a number that isn't finite in float32, in which features are computed.
void require_float(const std::string& where, const char* name, double number) {
  require_finite(where, name, number);
  if (std::isinf(static_cast<float>(number))) {
    fail<ValueError>(where, "{} must fit float32; got {}", name, number);
  }
}

void check_bins(const FeatureSettings& feature, const std::string& where) {
  const std::vector<double>& boundaries = feature.bin_boundaries;
  if (!feature.adapted && feature.num_bins.has_value() != boundaries.empty()) {
    fail<ValueError>(where, "one of num_bins and bin_boundaries must be given; got {}",
                     feature.num_bins ? "both" : "neither");
  }
  if (feature.num_bins) check_count("num_bins", *feature.num_bins, where);
  check_boundaries(boundaries, where);
  if (feature.adapted && static_cast<std::int64_t>(boundaries.size()) >= feature.num_bins.value_or(0)) {
    fail<ValueError>(where, "num_bins must be above the number of adapted boundaries {}; got {}", boundaries.size(),
                     feature.num_bins.value_or(0));
  }
}

void check_categories(const FeatureSettings& feature, const std::string& where) {
  if (feature.max_tokens && *feature.max_tokens <= 1) {
    fail<ValueError>(where, "max_tokens must be above 1; got {}", *feature.max_tokens);
  }
  if (feature.num_oov_indices < 0 || feature.num_oov_indices > most_feature_columns) {
    fail<ValueError>(where, "num_oov_indices must lie in [0, {}]; got {}", most_feature_columns,
                     feature.num_oov_indices);
  }
  if (feature.adapted == feature.vocabulary.empty()) {
    fail<ValueError>(where, "an adapted feature must have a vocabulary, and no other; got {} tokens",
                     feature.vocabulary.size());
  }
}

}  // namespace

FeatureType feature_type(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const TypeRow& row : type_rows) {
    if (name == row.name) return row.type;
    names.emplace_back(row.name);
  }
  fail_unknown(where, "type", name, names);
}

bool has_index(FeatureType type) { return type >= FeatureType::discretized; }

bool takes_integers(FeatureType type) {
  return type == FeatureType::integer_categorical || type == FeatureType::integer_hashed;
}

bool takes_texts(FeatureType type) {
  return type == FeatureType::string_categorical || type == FeatureType::string_hashed;
}

bool is_adaptable(const FeatureSettings& feature) {
  switch (feature_type(feature.type, "")) {
    case FeatureType::normalized:
    case FeatureType::integer_categorical:
    case FeatureType::string_categorical:
      return true;
    case FeatureType::discretized:
      return feature.num_bins.has_value();
    default:
      return false;
  }
}

void check_feature_mode(const std::string& mode, const std::string& where) {
  if (mode == "int" || mode == "one_hot") return;
  fail_unknown(where, "output_mode", mode, {"int", "one_hot"});
}

void check_feature(const FeatureSettings& feature, const std::string& where) {
  const FeatureType type = feature_type(feature.type, where);
  if (has_index(type)) check_feature_mode(feature.output_mode, where);
  switch (type) {
    case FeatureType::normalized:
      require_float(where, "mean", feature.mean);
      require_float(where, "variance", feature.variance);
      if (feature.variance < 0) fail<ValueError>(where, "variance must be at least 0; got {}", feature.variance);
      break;
    case FeatureType::rescaled:
      require_float(where, "scale", feature.scale);
      require_float(where, "offset", feature.offset);
      break;
    case FeatureType::discretized:
      check_bins(feature, where);
      break;
    case FeatureType::integer_categorical:
    case FeatureType::string_categorical:
      check_categories(feature, where);
      break;
    case FeatureType::integer_hashed:
    case FeatureType::string_hashed:
      check_count("num_bins", feature.num_bins.value_or(0), where);
      break;
    default:
      break;
  }
}

Feature::Feature(const std::string& type) {
  feature_type(type, "[FeatureSpace]");
  settings_.type = type;
}

FeatureList::FeatureList(const std::vector<Entry>& features) {
  for (const auto& [name, feature] : features) {
    rows.push_back(feature.settings());
    rows.back().name = name;
  }
}

std::string FeatureCross::name() const { return fmt::format("{}", fmt::join(feature_names, "_X_")); }

}  // namespace mezzo::detail
