#include <mezzo/layers/images/image_tones.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/colors.hpp>
#include <mezzo/layers/images/image_words.hpp>

namespace mezzo {

using image::SampleKey;

Solarization::Solarization(const SolarizationOptions& options) : detail::ImageAugmentation("Solarization", options) {
  const auto addition = options.addition_factor.bounds(label(), "addition_factor", 0, 1);
  const auto threshold = options.threshold_factor.bounds(label(), "threshold_factor", 0, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  set_transform([addition, threshold, range](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = detail::words_of("Solarization", key);
    const double added = 255 * detail::within(addition, words), from = 255 * detail::within(threshold, words);
    return image::detail::solarized(x, added, from, range.low, range.high);
  });
}

Equalization::Equalization(const EqualizationOptions& options) : detail::ImageAugmentation("Equalization", options) {
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  if (options.bins < 2 || options.bins > 65536) {
    fail<ValueError>(label(), "bins must be in [2, 65536]; got {}", options.bins);
  }
  set_transform([range, bins = options.bins](const Tensor& x, const SampleKey&) {
    return image::detail::equalized(x, bins, range.low, range.high);
  });
}

AutoContrast::AutoContrast(const AutoContrastOptions& options) : detail::ImageAugmentation("AutoContrast", options) {
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  const auto stretch = [range](const Tensor& x, const SampleKey&) {
    return image::detail::stretched(x, range.low, range.high);
  };
  set_transform(stretch);
  set_inference(stretch);
}

}  // namespace mezzo
