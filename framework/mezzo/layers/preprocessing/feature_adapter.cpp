#include <mezzo/layers/preprocessing/feature_adapter.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/preprocessing/feature_encoder.hpp>

namespace mezzo::detail {
namespace {

// Keras' default, and its batches: quantiles depend on both.
constexpr double quantile_epsilon = 0.01;
constexpr std::size_t adapted_batch = 32;

}  // namespace

FeatureAdapter::FeatureAdapter(const FeatureSettings& feature, std::string where)
    : where_(std::move(where)), type_(feature_type(feature.type, "")), quantiles_(quantile_epsilon) {}

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
    quantiles_.add(batch, where_);
  }
}

void FeatureAdapter::finish(FeatureSettings& feature) {
  flush();
  switch (type_) {
    case FeatureType::normalized:
      if (moments_.empty()) fail<ValueError>(where_, "adapt: there must be rows; got none");
      moments_.check_finite(where_);
      feature.mean = moments_.mean({1}).to_doubles().front();
      feature.variance = moments_.variance({1}).to_doubles().front();
      break;
    case FeatureType::discretized:
      if (quantiles_.empty()) fail<ValueError>(where_, "adapt: there must be rows; got none");
      feature.bin_boundaries = quantiles_.boundaries(*feature.num_bins);
      break;
    case FeatureType::integer_categorical: {
      auto lookup = integer_lookup_of(feature, where_);
      lookup.adapt(integers_);
      feature.vocabulary.clear();
      for (const std::int64_t token : lookup.tokens()) feature.vocabulary.push_back(std::to_string(token));
      break;
    }
    case FeatureType::string_categorical: {
      auto lookup = string_lookup_of(feature, where_);
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
