#include <mezzo/layers/preprocessing/feature_adapter.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/preprocessing/feature_encoder.hpp>

namespace mezzo::detail {
namespace {

// Keras' default, and its batches: quantiles depend on both.
constexpr double quantile_epsilon = 0.01;
constexpr std::size_t adapted_batch = 32;

void finish_moments(const RunningMoments& moments, FeatureSettings& feature, const std::string& where) {
  feature.mean = moments.mean({1}).to_doubles().front();
  feature.variance = moments.variance({1}).to_doubles().front();
  if (!std::isfinite(feature.mean) || !std::isfinite(feature.variance)) {
    fail<ValueError>(where, "adapt: mean and variance must be finite; got {} and {}", feature.mean, feature.variance);
  }
}

}  // namespace

FeatureAdapter::FeatureAdapter(const FeatureSettings& feature)
    : type_(feature_type(feature.type, "")), quantiles_(quantile_epsilon) {}

void FeatureAdapter::add(const FeatureValues& values) {
  switch (type_) {
    case FeatureType::normalized:
    case FeatureType::discretized:
      for (std::int64_t row = 0; row < values.numbers.size(); ++row) {
        waiting_.push_back(values.numbers.data<float>()[row]);
        if (waiting_.size() == adapted_batch) flush();
      }
      break;
    case FeatureType::integer_categorical:
      for (std::int64_t row = 0; row < values.numbers.size(); ++row) {
        integers_.add({values.numbers.data<std::int64_t>()[row]});
      }
      break;
    case FeatureType::string_categorical:
      for (std::int64_t row = 0; row < values.texts.size(); ++row) texts_.add({values.text(row)});
      break;
    default:
      break;
  }
}

void FeatureAdapter::flush() {
  if (waiting_.empty()) return;
  const Tensor batch(Shape{static_cast<std::int64_t>(waiting_.size()), 1}, waiting_);
  waiting_.clear();
  if (type_ == FeatureType::normalized) {
    moments_.add(batch, {false, true});
  } else {
    quantiles_.add(batch);
  }
}

void FeatureAdapter::finish(FeatureSettings& feature, const std::string& where) {
  flush();
  switch (type_) {
    case FeatureType::normalized:
      if (moments_.empty()) fail<ValueError>(where, "adapt: there must be rows; got none");
      finish_moments(moments_, feature, where);
      break;
    case FeatureType::discretized:
      if (quantiles_.empty()) fail<ValueError>(where, "adapt: there must be rows; got none");
      feature.bin_boundaries = quantiles_.boundaries(*feature.num_bins);
      break;
    case FeatureType::integer_categorical: {
      auto lookup = integer_lookup_of(feature, where);
      lookup.adapt(integers_);
      feature.vocabulary.clear();
      for (const std::int64_t token : lookup.tokens()) feature.vocabulary.push_back(std::to_string(token));
      break;
    }
    case FeatureType::string_categorical: {
      auto lookup = string_lookup_of(feature, where);
      lookup.adapt(texts_);
      feature.vocabulary = lookup.tokens();
      break;
    }
    default:
      return;
  }
  feature.adapted = true;
}

}  // namespace mezzo::detail
