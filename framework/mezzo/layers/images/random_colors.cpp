#include <mezzo/layers/images/random_colors.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/colors.hpp>
#include <mezzo/data/image/pixels.hpp>
#include <mezzo/layers/images/image_words.hpp>

namespace mezzo {

using detail::words_of;
using image::SampleKey;

RandomHue::RandomHue(const RandomHueOptions& options) : detail::ImageAugmentation("RandomHue", options) {
  const auto factor = options.factor.bounds(label(), "factor", 0, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  set_channels({3});
  set_transform([factor, range](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomHue", key);
    const double turn = detail::within(factor, words) / 2;
    return image::detail::with_hue(x, words.unit() < 0.5 ? turn : -turn, range.low, range.high);
  });
}

RandomSaturation::RandomSaturation(const RandomSaturationOptions& options)
    : detail::ImageAugmentation("RandomSaturation", options) {
  const auto factor = options.factor.bounds(label(), "factor", -1, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  set_channels({3});
  set_transform([factor, range](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomSaturation", key);
    const double share = detail::within(factor, words);
    return image::detail::with_saturation(x, share / (1 - share + 1e-7), range.low, range.high);
  });
}

RandomColorDegeneration::RandomColorDegeneration(const RandomColorDegenerationOptions& options)
    : detail::ImageAugmentation("RandomColorDegeneration", options) {
  const auto factor = options.factor.bounds(label(), "factor", -1, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  set_channels({3});
  set_transform([factor, range](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomColorDegeneration", key);
    return image::detail::cut(image::detail::towards_gray(x, detail::within(factor, words)), range.low, range.high);
  });
}

RandomSharpness::RandomSharpness(const RandomSharpnessOptions& options)
    : detail::ImageAugmentation("RandomSharpness", options) {
  const auto factor = options.factor.bounds(label(), "factor", 0, 1);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  set_transform([factor, range](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomSharpness", key);
    return image::detail::cut(image::detail::sharpened(x, 2 * detail::within(factor, words)), range.low, range.high);
  });
}

RandomGrayscale::RandomGrayscale(const RandomGrayscaleOptions& options)
    : detail::ImageAugmentation("RandomGrayscale", options) {
  if (!(options.factor >= 0 && options.factor <= 1)) {
    fail<ValueError>(label(), "factor must be in [0, 1]; got {}", options.factor);
  }
  set_channels({1, 3});
  set_transform([factor = options.factor](const Tensor& x, const SampleKey& key) {
    const bool gray = words_of("RandomGrayscale", key).unit() < factor && x.shape()[2] == 3;
    return gray ? image::detail::towards_gray(x, 1) : x;
  });
}

RandomInvert::RandomInvert(const RandomInvertOptions& options) : detail::ImageAugmentation("RandomInvert", options) {
  const auto factor = options.factor.bounds(label(), "factor", 0, 1);
  const double high = detail::value_range(label(), options.value_range).high;
  set_transform([factor, high](const Tensor& x, const SampleKey& key) {
    detail::RandomWords words = words_of("RandomInvert", key);
    if (!detail::chosen(factor, words)) return x;
    return image::detail::each_element(x, [high](auto number) { return static_cast<decltype(number)>(high) - number; });
  });
}

RandomPosterization::RandomPosterization(const RandomPosterizationOptions& options)
    : detail::ImageAugmentation("RandomPosterization", options) {
  const auto factor = options.factor.bounds(label(), "factor", 1, 8);
  const detail::PixelRange range = detail::value_range(label(), options.value_range);
  for (const double bits : options.factor.numbers()) {
    if (bits != std::floor(bits)) fail<ValueError>(label(), "factor must be whole numbers; got {}", bits);
  }
  const auto least = static_cast<std::int64_t>(factor.first), most = static_cast<std::int64_t>(factor.second);
  set_transform([least, most, range](const Tensor& x, const SampleKey& key) {
    const std::int64_t bits = least == most ? least : words_of("RandomPosterization", key).integer(least, most);
    return image::detail::posterized(x, static_cast<int>(bits), range.low, range.high);
  });
}

RandomColorJitter::RandomColorJitter(const RandomColorJitterOptions& options)
    : detail::ImageAugmentation("RandomColorJitter", options) {
  detail::value_range(label(), options.value_range);
  std::vector<detail::ImageAugmentation> changes;
  const auto add = [&](const detail::Factor& factor, auto layer_options, auto make) {
    if (factor.numbers().empty()) return;
    layer_options.factor = factor;
    layer_options.value_range = options.value_range;
    changes.push_back(make(layer_options));
  };
  add(options.brightness_factor, RandomBrightnessOptions{}, [](const auto& given) { return RandomBrightness(given); });
  add(options.contrast_factor, RandomContrastOptions{}, [](const auto& given) { return RandomContrast(given); });
  add(options.saturation_factor, RandomSaturationOptions{}, [](const auto& given) { return RandomSaturation(given); });
  add(options.hue_factor, RandomHueOptions{}, [](const auto& given) { return RandomHue(given); });
  if (!options.saturation_factor.numbers().empty() || !options.hue_factor.numbers().empty()) set_channels({3});
  set_transform([changes](const Tensor& x, const SampleKey& key) {
    Tensor out = x;
    for (const detail::ImageAugmentation& change : changes) out = change.augment(out, key);
    return out;
  });
}

}  // namespace mezzo
