#include <mezzo/layers/images/rand_augment.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/augment.hpp>
#include <mezzo/layers/images/image_tones.hpp>
#include <mezzo/layers/images/image_words.hpp>
#include <mezzo/layers/images/random_colors.hpp>
#include <mezzo/layers/images/random_geometry.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {
namespace {

using image::SampleKey;

/// Options of an enclosing layer that its changes share.
struct Strength {
  std::pair<double, double> factor{};
  detail::Factor value_range{};
  std::string interpolation{};
};

/// The options with strength and range of values.
template <class Options>
Options colors_with(const Strength& strength) {
  Options options;
  options.factor = {strength.factor.first, strength.factor.second};
  options.value_range = strength.value_range;
  return options;
}

/// The changes of Keras' AugMix; the last four change colors.
std::vector<detail::ImageAugmentation> changes_of(const Strength& strength) {
  const detail::Factor factor{strength.factor.first, strength.factor.second};
  RandomShearOptions shear;
  shear.x_factor = shear.y_factor = factor;
  shear.interpolation = strength.interpolation;
  RandomTranslationOptions translation;
  translation.height_factor = translation.width_factor = factor;
  translation.interpolation = strength.interpolation;
  RandomRotationOptions rotation;
  rotation.factor = factor;
  rotation.interpolation = strength.interpolation;
  RandomPosterizationOptions posterization;
  posterization.factor = std::max(1.0, std::floor(8 * strength.factor.second));
  posterization.value_range = strength.value_range;
  SolarizationOptions solarization;
  solarization.addition_factor = solarization.threshold_factor = factor;
  solarization.value_range = strength.value_range;
  AutoContrastOptions contrast;
  contrast.value_range = strength.value_range;
  EqualizationOptions equalization;
  equalization.value_range = strength.value_range;
  return {RandomShear(shear),
          RandomTranslation(translation),
          RandomRotation(rotation),
          RandomPosterization(posterization),
          Solarization(solarization),
          AutoContrast(contrast),
          Equalization(equalization),
          RandomBrightness(colors_with<RandomBrightnessOptions>(strength)),
          RandomColorDegeneration(colors_with<RandomColorDegenerationOptions>(strength)),
          RandomContrast(colors_with<RandomContrastOptions>(strength)),
          RandomSharpness(colors_with<RandomSharpnessOptions>(strength))};
}

/// The key of change `number` of an image.
SampleKey key_of_change(const SampleKey& key, std::int64_t number) {
  return {detail::mix(key.seed, static_cast<std::uint64_t>(number) + 1), key.epoch, key.index};
}

}  // namespace

RandAugment::RandAugment(const RandAugmentOptions& options) : detail::ImageAugmentation("RandAugment", options) {
  detail::value_range(label(), options.value_range);
  if (options.num_ops < 0) fail<ValueError>(label(), "num_ops must be 0 or more; got {}", options.num_ops);
  image::detail::check_sampling({"reflect", options.interpolation, 0}, label());
  const auto factor = options.factor.bounds(label(), "factor", 0, 1);
  const auto changes = changes_of({factor, options.value_range, options.interpolation});
  set_channels({3});
  set_transform([changes, count = options.num_ops](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = detail::words_of("RandAugment", key);
    Tensor out = x;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto change = static_cast<std::size_t>(words.integer(0, static_cast<std::int64_t>(changes.size())));
      out = changes[change].augment(out, key);
    }
    return out;
  });
}

AugMix::AugMix(const AugMixOptions& options) : detail::ImageAugmentation("AugMix", options) {
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  detail::require_positive(label(), "num_chains", options.num_chains);
  detail::require_positive(label(), "chain_depth", options.chain_depth);
  detail::require_above(label(), "alpha", options.alpha, 0);
  image::detail::check_sampling({"reflect", options.interpolation, 0}, label());
  const auto factor = options.factor.bounds(label(), "factor", 0, 1);
  auto changes = changes_of({factor, options.value_range, options.interpolation});
  if (!options.all_ops) changes.resize(changes.size() - 4, changes.front());
  set_channels({3});
  set_transform([changes, range, chains = options.num_chains, depth = options.chain_depth, alpha = options.alpha](
                    const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = detail::words_of("AugMix", key);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t chain = 0; chain < chains; ++chain) {
      weights.push_back(std::exp(words.log_gamma(alpha)));
      sum += weights.back();
    }
    const double kept = detail::symmetric_beta(alpha, words);
    std::vector<double> mixed = x.to_doubles();
    for (double& number : mixed) number *= kept;
    for (std::int64_t chain = 0; chain < chains; ++chain) {
      Tensor changed = x;
      for (std::int64_t step = 0; step < depth; ++step) {
        // One number more than the number of changes: no change.
        const auto change = static_cast<std::size_t>(words.integer(0, static_cast<std::int64_t>(changes.size()) + 1));
        if (change == changes.size()) continue;
        changed = changes[change].augment(changed, key_of_change(key, chain * depth + step));
      }
      const double weight = (1 - kept) * weights[static_cast<std::size_t>(chain)] / sum;
      const std::vector<double> numbers = changed.to_doubles();
      for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] += weight * numbers[i];
    }
    for (double& number : mixed) number = std::clamp(number, range.low, range.high);
    return Tensor(x.shape(), mixed).cast(x.dtype());
  });
}

}  // namespace mezzo
