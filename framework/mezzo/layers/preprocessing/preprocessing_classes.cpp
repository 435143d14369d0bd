#include <mezzo/layers/classes.hpp>
#include <mezzo/layers/images/describe_factor.hpp>
#include <mezzo/layers/images/image_augmentation.hpp>
#include <mezzo/layers/preprocessing/category_encoding.hpp>
#include <mezzo/layers/preprocessing/discretization.hpp>
#include <mezzo/layers/preprocessing/hashed_crossing.hpp>
#include <mezzo/layers/preprocessing/integer_lookup.hpp>
#include <mezzo/layers/preprocessing/normalization.hpp>
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

static void describe(Fields& fields, HashedCrossingOptions& options) {
  fields("num_bins", options.num_bins);
  fields("output_mode", options.output_mode);
}

static void describe(Fields& fields, HashingOptions& options) {
  fields("num_bins", options.num_bins);
  fields("mask_value", options.mask_value);
  fields("salt", options.salt);
  fields("output_mode", options.output_mode);
}

static void describe(Fields& fields, IntegerLookupOptions& options) {
  fields("max_tokens", options.max_tokens);
  fields("num_oov_indices", options.num_oov_indices);
  fields("mask_token", options.mask_token);
  fields("oov_token", options.oov_token);
  fields("vocabulary", options.vocabulary);
  fields("idf_weights", options.idf_weights);
  fields("invert", options.invert);
  fields("output_mode", options.output_mode);
  fields("pad_to_max_tokens", options.pad_to_max_tokens);
  fields("oov_method", options.oov_method);
  fields("salt", options.salt);
}

static void describe(Fields& fields, NormalizationOptions& options) {
  fields("axis", options.axis);
  fields("mean", options.mean);
  fields("variance", options.variance);
  fields("invert", options.invert);
}

static void describe(Fields& fields, RandomBrightnessOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomContrastOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomFlipOptions& options) {
  fields("mode", options.mode);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomRotationOptions& options) {
  describe_factor(fields, "factor", options.factor);
  describe_sampling(fields, options);
}

static void describe(Fields& fields, RandomTranslationOptions& options) {
  describe_factor(fields, "height_factor", options.height_factor);
  describe_factor(fields, "width_factor", options.width_factor);
  describe_sampling(fields, options);
}

static void describe(Fields& fields, RandomZoomOptions& options) {
  describe_factor(fields, "height_factor", options.height_factor);
  detail::Factor width = options.width_factor.value_or(detail::Factor());
  describe_factor(fields, "width_factor", width);
  if (!width.numbers().empty()) options.width_factor = width;
  describe_sampling(fields, options);
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

std::vector<detail::SavedClass<Layer>> preprocessing_classes() {
  return {detail::saved_class<CategoryEncoding, CategoryEncodingOptions, Layer>("CategoryEncoding"),
          detail::saved_class<CenterCrop, CenterCropOptions, Layer>("CenterCrop"),
          detail::saved_class<Discretization, DiscretizationOptions, Layer>("Discretization"),
          detail::saved_class<HashedCrossing, HashedCrossingOptions, Layer>("HashedCrossing"),
          detail::saved_class<Hashing, HashingOptions, Layer>("Hashing"),
          detail::saved_class<IntegerLookup, IntegerLookupOptions, Layer>("IntegerLookup"),
          detail::saved_class<Normalization, NormalizationOptions, Layer>("Normalization"),
          detail::saved_class<RandomBrightness, RandomBrightnessOptions, Layer>("RandomBrightness"),
          detail::saved_class<RandomContrast, RandomContrastOptions, Layer>("RandomContrast"),
          detail::saved_class<RandomFlip, RandomFlipOptions, Layer>("RandomFlip"),
          detail::saved_class<RandomRotation, RandomRotationOptions, Layer>("RandomRotation"),
          detail::saved_class<RandomTranslation, RandomTranslationOptions, Layer>("RandomTranslation"),
          detail::saved_class<RandomZoom, RandomZoomOptions, Layer>("RandomZoom"),
          detail::saved_class<Resizing, ResizingOptions, Layer>("Resizing")};
}

}  // namespace mezzo
