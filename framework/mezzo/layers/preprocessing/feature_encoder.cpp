#include <mezzo/layers/preprocessing/feature_encoder.hpp>

#include <charconv>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/hashes.hpp>
#include <mezzo/layers/preprocessing/quantile_summary.hpp>

namespace mezzo::detail {
namespace {

std::vector<std::int64_t> integers_of(const std::vector<std::string>& texts, const std::string& where) {
  std::vector<std::int64_t> out;
  for (const std::string& text : texts) {
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, out.emplace_back());
    if (error != std::errc() || at != end) {
      fail<ValueError>(where, "the vocabulary must have integers; got \"{}\"", text);
    }
  }
  return out;
}

std::int64_t place_of_hash(const std::string& text, std::int64_t places) {
  return static_cast<std::int64_t>(salted_hash(text, {}) % static_cast<std::uint64_t>(places));
}

}  // namespace

IndexLookup<std::string> string_lookup_of(const FeatureSettings& feature, const std::string& where) {
  return lookup_of<std::string>(feature, "[UNK]", where);
}

IndexLookup<std::int64_t> integer_lookup_of(const FeatureSettings& feature, const std::string& where) {
  return lookup_of<std::int64_t>(feature, -1, where);
}

FeatureEncoder::FeatureEncoder(const FeatureSettings& feature, const std::string& where)
    : type_(feature_type(feature.type, where)) {
  check_feature(feature, where);
  switch (type_) {
    case FeatureType::normalized: {
      constexpr float least_deviation = 1e-7F;  // Keras' epsilon
      mean_ = static_cast<float>(feature.mean);
      deviation_ = std::max(std::sqrt(static_cast<float>(feature.variance)), least_deviation);
      break;
    }
    case FeatureType::rescaled:
      scale_ = static_cast<float>(feature.scale);
      offset_ = static_cast<float>(feature.offset);
      break;
    case FeatureType::discretized:
      boundaries_ = boundaries_for(DType::float32, feature.bin_boundaries);
      categories_ = feature.num_bins.value_or(static_cast<std::int64_t>(boundaries_.size()) + 1);
      break;
    case FeatureType::integer_categorical:
      integers_ = integer_lookup_of(feature, where);
      integers_->set_vocabulary(integers_of(feature.vocabulary, where), {});
      categories_ = integers_->size();
      break;
    case FeatureType::string_categorical:
      strings_ = string_lookup_of(feature, where);
      strings_->set_vocabulary(feature.vocabulary, {});
      categories_ = strings_->size();
      break;
    case FeatureType::integer_hashed:
    case FeatureType::string_hashed:
      categories_ = *feature.num_bins;
      break;
    case FeatureType::plain:
      break;
  }
}

float FeatureEncoder::number(const FeatureValues& values, std::int64_t row) const {
  const float x = values.numbers.data<float>()[row];
  if (type_ == FeatureType::normalized) return (x - mean_) / deviation_;
  return type_ == FeatureType::rescaled ? x * scale_ + offset_ : x;
}

std::int64_t FeatureEncoder::index(const FeatureValues& values, std::int64_t row) const {
  switch (type_) {
    case FeatureType::discretized:
      return bin_of_number(static_cast<double>(values.numbers.data<float>()[row]), boundaries_);
    case FeatureType::integer_categorical:
      return integers_->index_of(values.numbers.data<std::int64_t>()[row], [&](std::int64_t unknown) {
        return floor_mod(unknown, integers_->settings().num_oov_indices);
      });
    case FeatureType::string_categorical:
      return strings_->index_of(values.text(row), [&](const std::string& unknown) {
        return place_of_hash(unknown, strings_->settings().num_oov_indices);
      });
    case FeatureType::integer_hashed:
      return place_of_hash(std::to_string(values.numbers.data<std::int64_t>()[row]), categories_);
    case FeatureType::string_hashed:
      return place_of_hash(values.text(row), categories_);
    default:
      fail<ValueError>("[FeatureSpace]", "a feature of floats has no index");
  }
}

std::vector<std::string> FeatureEncoder::vocabulary() const {
  if (strings_) return strings_->vocabulary(true);
  std::vector<std::string> out;
  if (!integers_) return out;
  for (const std::int64_t token : integers_->vocabulary(true)) out.push_back(std::to_string(token));
  return out;
}

}  // namespace mezzo::detail
