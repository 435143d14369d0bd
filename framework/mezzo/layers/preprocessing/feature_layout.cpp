#include <mezzo/layers/preprocessing/feature_layout.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/tables/number_casts.hpp>
#include <mezzo/layers/preprocessing/joined_hash.hpp>

namespace mezzo::detail {
namespace {

using Names = std::vector<std::string>;

const FeatureSettings& feature_of(const FeatureSpaceOptions& options, const std::string& name,
                                  const std::string& where) {
  const auto& rows = options.features.rows;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  if (found != rows.end()) return *found;
  Names names;
  for (const FeatureSettings& row : rows) names.push_back(row.name);
  fail_unknown(where, "feature", name, names);
}

/// Sets the arguments that the name of a type leaves to the FeatureSpace.
void set_defaults(FeatureSettings& feature, const FeatureSpaceOptions& options, const std::string& where) {
  const FeatureType type = feature_type(feature.type, where);
  if (feature.num_bins) return;
  const bool hashed = type == FeatureType::integer_hashed || type == FeatureType::string_hashed;
  if (hashed) feature.num_bins = options.hashing_dim;
  if (type == FeatureType::discretized && feature.bin_boundaries.empty()) {
    feature.num_bins = options.num_discretization_bins;
  }
}

void check_mode_to_join(const FeatureSpaceOptions& options, const std::string& mode, const std::string& where) {
  if (options.output_mode == "dict" || mode == "one_hot") return;
  fail<ValueError>(where,
                   "output_mode must be \"one_hot\" for a feature that is concatenated; got \"{}\": use output_mode = "
                   "\"dict\" for the FeatureSpace",
                   mode);
}

void check_cross(const FeatureCross& cross, const FeatureSpaceOptions& options, const std::string& where) {
  const std::string label = fmt::format("{} cross \"{}\":", where, cross.name());
  if (cross.feature_names.size() < 2) {
    fail<ValueError>(label, "must have two or more features; got {}", cross.feature_names.size());
  }
  for (const std::string& name : cross.feature_names) {
    const FeatureSettings& feature = feature_of(options, name, label);
    if (has_index(feature_type(feature.type, label))) continue;
    fail<ValueError>(label, "features must be categorical, hashed or discretized; \"{}\" is {}", name, feature.type);
  }
  check_feature_mode(cross.output_mode, label);
  check_mode_to_join(options, cross.output_mode, label);
  const std::int64_t bins = cross.crossing_dim.value_or(0);
  if (bins < 1 || bins > most_feature_columns) {
    fail<ValueError>(label, "crossing_dim must lie in [1, {}]; got {}", most_feature_columns, bins);
  }
}

void check_fillna(const FeatureSpaceOptions& options, const std::string& where) {
  for (const auto& [name, value] : options.fillna) {
    const std::string label = where + " fillna:";
    const FeatureSettings& feature = feature_of(options, name, label);
    const FeatureType type = feature_type(feature.type, label);
    const double* const number = std::get_if<double>(&value);
    if (takes_texts(type) == (number != nullptr)) {
      fail<ValueError>(label, "\"{}\" must have a {} for a feature of type {}", name,
                       takes_texts(type) ? "text" : "number", feature.type);
    }
    if (number == nullptr) continue;
    const bool held =
        takes_integers(type) ? held_as<std::int64_t>(*number).has_value() : std::isfinite(static_cast<float>(*number));
    if (held) continue;
    fail<ValueError>(label, "\"{}\" must have a number that fits {}; got {}", name,
                     takes_integers(type) ? DType::int64 : DType::float32, *number);
  }
}

bool by_name(const FeatureLayout::Output& a, const FeatureLayout::Output& b) { return a.name < b.name; }

}  // namespace

std::string label_of_feature(const std::string& where, const std::string& feature) {
  return fmt::format("{} feature \"{}\":", where, feature);
}

FeatureSpaceOptions checked_options(FeatureSpaceOptions options, const std::string& where) {
  if (options.features.rows.empty()) fail<ValueError>(where, "features must be given; got none");
  if (options.output_mode != "concat" && options.output_mode != "dict") {
    fail_unknown(where, "output_mode", options.output_mode, {"concat", "dict"});
  }
  std::set<std::string> names;
  const auto use = [&](const std::string& name) {
    if (!names.insert(name).second) {
      fail<ValueError>(where, "names of features and crosses must differ; got \"{}\" twice", name);
    }
  };
  for (FeatureSettings& feature : options.features.rows) {
    const std::string label = label_of_feature(where, feature.name);
    use(feature.name);
    set_defaults(feature, options, label);
    check_feature(feature, label);
    if (has_index(feature_type(feature.type, label))) check_mode_to_join(options, feature.output_mode, label);
  }
  for (FeatureCross& cross : options.crosses) {
    if (!cross.crossing_dim) cross.crossing_dim = options.crossing_dim;
    check_cross(cross, options, where);
    use(cross.name());
  }
  check_fillna(options, where);
  return options;
}

FeatureLayout::FeatureLayout(const FeatureSpaceOptions& options, const std::string& where)
    : where_(where), features_(options.features.rows), fillna_(options.fillna) {
  std::map<std::string, std::size_t> places;
  for (const FeatureSettings& feature : features_) {
    const FeatureEncoder& encoder = encoders_.emplace_back(feature, label_of_feature(where, feature.name));
    const bool indexed = has_index(encoder.type()), one_hot = indexed && feature.output_mode == "one_hot";
    places[feature.name] = outputs_.size();
    outputs_.push_back({.name = feature.name,
                        .source = outputs_.size(),
                        .width = one_hot ? encoder.categories() : 1,
                        .one_hot = one_hot,
                        .index = indexed && !one_hot});
  }
  for (const FeatureCross& cross : options.crosses) {
    Crossed& crossed = crosses_.emplace_back();
    for (const std::string& name : cross.feature_names) crossed.features.push_back(places.at(name));
    crossed.bins = cross.crossing_dim.value();
    const bool one_hot = cross.output_mode == "one_hot";
    outputs_.push_back({.name = cross.name(),
                        .source = outputs_.size(),
                        .width = one_hot ? crossed.bins : 1,
                        .one_hot = one_hot,
                        .index = !one_hot});
  }
  const auto first_cross = outputs_.begin() + static_cast<std::ptrdiff_t>(features_.size());
  std::sort(outputs_.begin(), first_cross, by_name);
  std::sort(first_cross, outputs_.end(), by_name);
  for (const Output& output : outputs_) {
    width_ += output.width;
    if (width_ > most_feature_columns) {
      fail<ValueError>(where, "the encoded features must have at most {} columns; got more", most_feature_columns);
    }
  }
}

std::vector<FeatureValues> FeatureLayout::read(const Table& table) const {
  std::vector<FeatureValues> values;
  for (const FeatureSettings& feature : features_) values.push_back(values_of(feature, table, fillna_, where_));
  return values;
}

void FeatureLayout::encode(const std::vector<FeatureValues>& values, std::int64_t row, void* const* out) const {
  std::vector<std::int64_t> indices(encoders_.size() + crosses_.size());
  for (std::size_t i = 0; i < encoders_.size(); ++i) {
    if (has_index(encoders_[i].type())) indices[i] = encoders_[i].index(values[i], row);
  }
  for (std::size_t i = 0; i < crosses_.size(); ++i) {
    std::uint64_t hash = first_crossed_hash;
    for (const std::size_t feature : crosses_[i].features) {
      hash = joined_hash(hash, static_cast<std::uint64_t>(indices[feature]));
    }
    indices[encoders_.size() + i] = static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(crosses_[i].bins));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.index) {
      *static_cast<std::int64_t*>(out[i]) = indices[output.source];
      continue;
    }
    auto* const to = static_cast<float*>(out[i]);
    if (output.one_hot) {
      std::fill_n(to, output.width, 0.0F);
      to[indices[output.source]] = 1;
    } else {
      *to = encoders_[output.source].number(values[output.source], row);
    }
  }
}

void FeatureLayout::encode_joined(const std::vector<FeatureValues>& values, std::int64_t row, float* out) const {
  std::vector<void*> places;
  for (const Output& output : outputs_) {
    places.push_back(out);
    out += output.width;
  }
  encode(values, row, places.data());
}

std::vector<std::string> FeatureLayout::vocabulary(const std::string& feature) const {
  Names names;
  for (std::size_t i = 0; i < features_.size(); ++i) {
    const FeatureType type = encoders_[i].type();
    if (type != FeatureType::integer_categorical && type != FeatureType::string_categorical) continue;
    if (features_[i].name == feature) return encoders_[i].vocabulary();
    names.push_back(features_[i].name);
  }
  fail_unknown(where_, "categorical feature", feature, names);
}

}  // namespace mezzo::detail
