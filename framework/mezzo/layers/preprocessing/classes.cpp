#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/preprocessing/category_encoding.hpp>
#include <mezzo/layers/preprocessing/discretization.hpp>
#include <mezzo/layers/preprocessing/feature_space.hpp>
#include <mezzo/layers/preprocessing/hashed_crossing.hpp>
#include <mezzo/layers/preprocessing/integer_lookup.hpp>
#include <mezzo/layers/preprocessing/normalization.hpp>
#include <mezzo/layers/preprocessing/rescaling.hpp>
#include <mezzo/layers/preprocessing/resizing.hpp>

namespace mezzo {

static void describe(Fields& fields, CategoryEncodingOptions& options) {
  fields("num_tokens", options.num_tokens);
  fields("output_mode", options.output_mode);
}

static void describe(Fields& fields, CenterCropOptions& options) {
  fields("height", options.height);
  fields("width", options.width);
}

static void describe(Fields& fields, DiscretizationOptions& options) {
  fields("bin_boundaries", options.bin_boundaries);
  fields("num_bins", options.num_bins);
  fields("epsilon", options.epsilon);
  fields("output_mode", options.output_mode);
}

namespace detail {

/// A value of `fillna` as configs hold it.
struct FilledColumn {
  std::string column{};
  std::optional<double> number{};  ///< none: the text
  std::string text{};
};

static void describe(Fields& fields, FilledColumn& filled) {
  fields("column", filled.column);
  fields("number", filled.number);
  fields("text", filled.text);
}

static void describe(Fields& fields, FeatureCross& cross) {
  fields("feature_names", cross.feature_names);
  fields("crossing_dim", cross.crossing_dim);
  fields("output_mode", cross.output_mode);
}

static void describe(Fields& fields, FeatureSettings& feature) {
  fields("name", feature.name);
  fields("type", feature.type);
  fields("scale", feature.scale);
  fields("offset", feature.offset);
  fields("num_bins", feature.num_bins);
  fields("bin_boundaries", feature.bin_boundaries);
  fields("max_tokens", feature.max_tokens);
  fields("num_oov_indices", feature.num_oov_indices);
  fields("output_mode", feature.output_mode);
  fields("adapted", feature.adapted);
  fields("mean", feature.mean);
  fields("variance", feature.variance);
  fields("vocabulary", feature.vocabulary);
}

}  // namespace detail

static void describe(Fields& fields, FeatureSpaceOptions& options) {
  fields("features", options.features.rows);
  fields("output_mode", options.output_mode);
  fields("crosses", options.crosses);
  fields("crossing_dim", options.crossing_dim);
  fields("hashing_dim", options.hashing_dim);
  fields("num_discretization_bins", options.num_discretization_bins);
  std::vector<detail::FilledColumn> filled;
  for (const auto& [column, value] : options.fillna) {
    detail::FilledColumn& one = filled.emplace_back();
    one.column = column;
    if (const auto* const number = std::get_if<double>(&value)) {
      one.number = *number;
    } else {
      one.text = std::get<std::string>(value);
    }
  }
  fields("fillna", filled);
  options.fillna.clear();
  for (const detail::FilledColumn& one : filled) {
    options.fillna.emplace(one.column, one.number ? detail::FillValue(*one.number) : detail::FillValue(one.text));
  }
}

static void describe(Fields& fields, HashedCrossingOptions& options) {
  fields("num_bins", options.num_bins);
  fields("output_mode", options.output_mode);
}

static void describe(Fields& fields, HashingOptions& options) {
  fields("num_bins", options.num_bins);
  fields("mask_value", options.mask_value);
  fields.any_integer("salt", options.salt);
  fields("output_mode", options.output_mode);
}

static void describe(Fields& fields, IntegerLookupOptions& options) {
  fields("max_tokens", options.max_tokens);
  fields("num_oov_indices", options.num_oov_indices);
  fields.any_integer("mask_token", options.mask_token);
  fields.any_integer("oov_token", options.oov_token);
  fields.any_integer("vocabulary", options.vocabulary);
  fields("idf_weights", options.idf_weights);
  fields("invert", options.invert);
  fields("output_mode", options.output_mode);
  fields("pad_to_max_tokens", options.pad_to_max_tokens);
  fields("oov_method", options.oov_method);
  fields.any_integer("salt", options.salt);
}

static void describe(Fields& fields, NormalizationOptions& options) {
  fields("axis", options.axis);
  fields("mean", options.mean);
  fields("variance", options.variance);
  fields("invert", options.invert);
}

static void describe(Fields& fields, RescalingOptions& options) {
  fields("scale", options.scale);
  fields("offset", options.offset);
}

static void describe(Fields& fields, ResizingOptions& options) {
  fields("height", options.height);
  fields("width", options.width);
  fields("interpolation", options.interpolation);
  fields("crop_to_aspect_ratio", options.crop_to_aspect_ratio);
  fields("pad_to_aspect_ratio", options.pad_to_aspect_ratio);
  fields("fill_value", options.fill_value);
  fields("antialias", options.antialias);
}

std::vector<detail::SavedClass<Layer>> preprocessing_layer_classes() {
  return {detail::saved_layer<CategoryEncoding, CategoryEncodingOptions>("CategoryEncoding"),
          detail::saved_layer<CenterCrop, CenterCropOptions>("CenterCrop"),
          detail::saved_layer<Discretization, DiscretizationOptions>("Discretization"),
          detail::saved_layer<FeatureSpace, FeatureSpaceOptions>("FeatureSpace"),
          detail::saved_layer<HashedCrossing, HashedCrossingOptions>("HashedCrossing"),
          detail::saved_layer<Hashing, HashingOptions>("Hashing"),
          detail::saved_layer<IntegerLookup, IntegerLookupOptions>("IntegerLookup"),
          detail::saved_layer<Normalization, NormalizationOptions>("Normalization"),
          detail::saved_layer<Rescaling, RescalingOptions>("Rescaling"),
          detail::saved_layer<Resizing, ResizingOptions>("Resizing")};
}

}  // namespace mezzo
