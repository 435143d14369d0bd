#include <mezzo/layers/classes.hpp>
#include <mezzo/layers/images/describe_factor.hpp>
#include <mezzo/layers/images/image_tones.hpp>
#include <mezzo/layers/images/mixing_images.hpp>
#include <mezzo/layers/images/rand_augment.hpp>
#include <mezzo/layers/images/random_colors.hpp>
#include <mezzo/layers/images/random_geometry.hpp>

// Layers that change images, except those of preprocessing_classes().
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

static void describe(Fields& fields, RandomColorDegenerationOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomColorJitterOptions& options) {
  describe_factor(fields, "value_range", options.value_range);
  describe_factor(fields, "brightness_factor", options.brightness_factor);
  describe_factor(fields, "contrast_factor", options.contrast_factor);
  describe_factor(fields, "saturation_factor", options.saturation_factor);
  describe_factor(fields, "hue_factor", options.hue_factor);
  fields("seed", options.seed);
}

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

static void describe(Fields& fields, RandomSaturationOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomSharpnessOptions& options) { describe_colors(fields, options); }

static void describe(Fields& fields, RandomShearOptions& options) {
  describe_factor(fields, "x_factor", options.x_factor);
  describe_factor(fields, "y_factor", options.y_factor);
  describe_sampling(fields, options);
}

static void describe(Fields& fields, SolarizationOptions& options) {
  describe_factor(fields, "addition_factor", options.addition_factor);
  describe_factor(fields, "threshold_factor", options.threshold_factor);
  describe_factor(fields, "value_range", options.value_range);
  fields("seed", options.seed);
}

std::vector<detail::SavedClass<Layer>> image_layer_classes() {
  return {
      detail::saved_class<AugMix, AugMixOptions, Layer>("AugMix"),
      detail::saved_class<AutoContrast, AutoContrastOptions, Layer>("AutoContrast"),
      detail::saved_class<CutMix, CutMixOptions, Layer>("CutMix"),
      detail::saved_class<Equalization, EqualizationOptions, Layer>("Equalization"),
      detail::saved_class<MixUp, MixUpOptions, Layer>("MixUp"),
      detail::saved_class<RandAugment, RandAugmentOptions, Layer>("RandAugment"),
      detail::saved_class<RandomColorDegeneration, RandomColorDegenerationOptions, Layer>("RandomColorDegeneration"),
      detail::saved_class<RandomColorJitter, RandomColorJitterOptions, Layer>("RandomColorJitter"),
      detail::saved_class<RandomCrop, RandomCropOptions, Layer>("RandomCrop"),
      detail::saved_class<RandomElasticTransform, RandomElasticTransformOptions, Layer>("RandomElasticTransform"),
      detail::saved_class<RandomErasing, RandomErasingOptions, Layer>("RandomErasing"),
      detail::saved_class<RandomGaussianBlur, RandomGaussianBlurOptions, Layer>("RandomGaussianBlur"),
      detail::saved_class<RandomGrayscale, RandomGrayscaleOptions, Layer>("RandomGrayscale"),
      detail::saved_class<RandomHue, RandomHueOptions, Layer>("RandomHue"),
      detail::saved_class<RandomInvert, RandomInvertOptions, Layer>("RandomInvert"),
      detail::saved_class<RandomPerspective, RandomPerspectiveOptions, Layer>("RandomPerspective"),
      detail::saved_class<RandomPosterization, RandomPosterizationOptions, Layer>("RandomPosterization"),
      detail::saved_class<RandomSaturation, RandomSaturationOptions, Layer>("RandomSaturation"),
      detail::saved_class<RandomSharpness, RandomSharpnessOptions, Layer>("RandomSharpness"),
      detail::saved_class<RandomShear, RandomShearOptions, Layer>("RandomShear"),
      detail::saved_class<Solarization, SolarizationOptions, Layer>("Solarization")};
}

}  // namespace mezzo
