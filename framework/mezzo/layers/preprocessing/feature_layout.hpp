#pragma once
#include <map>
#include <string>
#include <vector>

#include <mezzo/layers/preprocessing/feature_encoder.hpp>
#include <mezzo/layers/preprocessing/feature_list.hpp>
#include <mezzo/layers/preprocessing/feature_space_options.hpp>

namespace mezzo::detail {

/// Returns the options with the defaults of the FeatureSpace in its features and crosses. Throws errors that start with
/// `where` for options that are out of range or contradict each other.
FeatureSpaceOptions checked_options(FeatureSpaceOptions options, const std::string& where);

/// Start of the errors of a feature: `[FeatureSpace "space"] feature "age":`.
std::string label_of_feature(const std::string& where, const std::string& feature);

/// Encoded features of an adapted FeatureSpace, in Keras' order: features by name, then crosses by name. Const
/// functions are thread safe.
class FeatureLayout {
 public:
  /// A feature or cross in the result.
  struct Output {
    std::string name;
    std::size_t source = 0;  ///< its place among the features, or behind them among the crosses
    std::int64_t width = 1;  ///< columns
    bool one_hot = false;    ///< false: a float, or an index
    bool index = false;      ///< true: an index, int64
    DType dtype() const { return index ? DType::int64 : DType::float32; }
  };

  /// Throws the errors of FeatureEncoder. `options` are those of checked_options().
  FeatureLayout(const FeatureSpaceOptions& options, const std::string& where);

  const std::vector<Output>& outputs() const { return outputs_; }
  /// Columns of all outputs together.
  std::int64_t width() const { return width_; }

  /// Values of all features in a table. Throws the errors of values_of().
  std::vector<FeatureValues> read(const Table& table) const;

  /// Writes the outputs of a row: output i as `width` numbers of its dtype to `out[i]`.
  void encode(const std::vector<FeatureValues>& values, std::int64_t row, void* const* out) const;

  /// Writes the outputs of a row one after the other: width() numbers.
  void encode_joined(const std::vector<FeatureValues>& values, std::int64_t row, float* out) const;

  /// Tokens of a categorical feature.
  std::vector<std::string> vocabulary(const std::string& feature) const;

 private:
  struct Crossed {
    std::vector<std::size_t> features;
    std::int64_t bins = 1;
  };

  std::string where_;
  std::vector<FeatureSettings> features_;
  std::map<std::string, FillValue> fillna_;
  std::vector<FeatureEncoder> encoders_;
  std::vector<Crossed> crosses_;
  std::vector<Output> outputs_;
  std::int64_t width_ = 0;
};

}  // namespace mezzo::detail
