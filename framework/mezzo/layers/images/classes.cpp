#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/images/describe_factor.hpp>
#include <mezzo/layers/images/image_augmentation.hpp>
#include <mezzo/layers/images/image_tones.hpp>
#include <mezzo/layers/images/mixing_images.hpp>
#include <mezzo/layers/images/rand_augment.hpp>
#include <mezzo/layers/images/random_colors.hpp>
#include <mezzo/layers/images/random_geometry.hpp>

namespace mezzo {

static void describe(Fields& fields, AugMixOptions& options) {
  describe_factor(fields, "value_range", options.value_range);
  fields("num_chains", options.num_chains);
  fields("chain_depth", options.chain_depth);
  describe_factor(fields, "factor", options.factor);
  fields("alpha", options.alpha);
  fields("all_ops", options.all_ops);
  fields("interpolation", options.interpolation);
  fields("seed", options.seed);
}

static void describe(Fields& fields, AutoContrastOptions& options) {
  describe_factor(fields, "value_range", options.value_range);
}

static void describe(Fields& fields, CutMixOptions& options) {
  describe_factor(fields, "factor", options.factor);
  fields("seed", options.seed);
}

static void describe(Fields& fields, EqualizationOptions& options) {
  describe_factor(fields, "value_range", options.value_range);
  fields("bins", options.bins);
}

static void describe(Fields& fields, MixUpOptions& options) {
  fields("alpha", options.alpha);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandAugmentOptions& options) {
  describe_factor(fields, "value_range", options.value_range);
  fields("num_ops", options.num_ops);
  describe_factor(fields, "factor", options.factor);
  fields("interpolation", options.interpolation);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomBrightnessOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomColorDegenerationOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomColorJitterOptions& options) {
  describe_factor(fields, "value_range", options.value_range);
  describe_factor(fields, "brightness_factor", options.brightness_factor);
  describe_factor(fields, "contrast_factor", options.contrast_factor);
  describe_factor(fields, "saturation_factor", options.saturation_factor);
  describe_factor(fields, "hue_factor", options.hue_factor);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomContrastOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomCropOptions& options) {
  fields("height", options.height);
  fields("width", options.width);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomElasticTransformOptions& options) {
  describe_factor(fields, "factor", options.factor);
  describe_factor(fields, "scale", options.scale);
  describe_sampling(fields, options);
  describe_factor(fields, "value_range", options.value_range);
}

static void describe(Fields& fields, RandomErasingOptions& options) {
  describe_factor(fields, "factor", options.factor);
  describe_factor(fields, "scale", options.scale);
  describe_factor(fields, "fill_value", options.fill_value);
  describe_factor(fields, "value_range", options.value_range);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomFlipOptions& options) {
  fields("mode", options.mode);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomGaussianBlurOptions& options) {
  describe_factor(fields, "factor", options.factor);
  fields("kernel_size", options.kernel_size);
  describe_factor(fields, "sigma", options.sigma);
  describe_factor(fields, "value_range", options.value_range);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomGrayscaleOptions& options) {
  fields("factor", options.factor);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomHueOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomInvertOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomPerspectiveOptions& options) {
  describe_factor(fields, "factor", options.factor);
  fields("scale", options.scale);
  fields("interpolation", options.interpolation);
  fields("fill_value", options.fill_value);
  fields("seed", options.seed);
}

static void describe(Fields& fields, RandomPosterizationOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomRotationOptions& options) {
  describe_factor(fields, "factor", options.factor);
  describe_sampling(fields, options);
}

static void describe(Fields& fields, RandomSaturationOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomSharpnessOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomShearOptions& options) {
  describe_factor(fields, "x_factor", options.x_factor);
  describe_factor(fields, "y_factor", options.y_factor);
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

static void describe(Fields& fields, SolarizationOptions& options) {
  describe_factor(fields, "addition_factor", options.addition_factor);
  describe_factor(fields, "threshold_factor", options.threshold_factor);
  describe_factor(fields, "value_range", options.value_range);
  fields("seed", options.seed);
}

std::vector<detail::SavedClass<Layer>> image_layer_classes() {
  return {detail::saved_layer<AugMix, AugMixOptions>("AugMix"),
          detail::saved_layer<AutoContrast, AutoContrastOptions>("AutoContrast"),
          detail::saved_layer<CutMix, CutMixOptions>("CutMix"),
          detail::saved_layer<Equalization, EqualizationOptions>("Equalization"),
          detail::saved_layer<MixUp, MixUpOptions>("MixUp"),
          detail::saved_layer<RandAugment, RandAugmentOptions>("RandAugment"),
          detail::saved_layer<RandomBrightness, RandomBrightnessOptions>("RandomBrightness"),
          detail::saved_layer<RandomColorDegeneration, RandomColorDegenerationOptions>("RandomColorDegeneration"),
          detail::saved_layer<RandomColorJitter, RandomColorJitterOptions>("RandomColorJitter"),
          detail::saved_layer<RandomContrast, RandomContrastOptions>("RandomContrast"),
          detail::saved_layer<RandomCrop, RandomCropOptions>("RandomCrop"),
          detail::saved_layer<RandomElasticTransform, RandomElasticTransformOptions>("RandomElasticTransform"),
          detail::saved_layer<RandomErasing, RandomErasingOptions>("RandomErasing"),
          detail::saved_layer<RandomFlip, RandomFlipOptions>("RandomFlip"),
          detail::saved_layer<RandomGaussianBlur, RandomGaussianBlurOptions>("RandomGaussianBlur"),
          detail::saved_layer<RandomGrayscale, RandomGrayscaleOptions>("RandomGrayscale"),
          detail::saved_layer<RandomHue, RandomHueOptions>("RandomHue"),
          detail::saved_layer<RandomInvert, RandomInvertOptions>("RandomInvert"),
          detail::saved_layer<RandomPerspective, RandomPerspectiveOptions>("RandomPerspective"),
          detail::saved_layer<RandomPosterization, RandomPosterizationOptions>("RandomPosterization"),
          detail::saved_layer<RandomRotation, RandomRotationOptions>("RandomRotation"),
          detail::saved_layer<RandomSaturation, RandomSaturationOptions>("RandomSaturation"),
          detail::saved_layer<RandomSharpness, RandomSharpnessOptions>("RandomSharpness"),
          detail::saved_layer<RandomShear, RandomShearOptions>("RandomShear"),
          detail::saved_layer<RandomTranslation, RandomTranslationOptions>("RandomTranslation"),
          detail::saved_layer<RandomZoom, RandomZoomOptions>("RandomZoom"),
          detail::saved_layer<Solarization, SolarizationOptions>("Solarization")};
}

}  // namespace mezzo
