#pragma once
#include <cmath>
#include <string>
#include <utility>

#include <mezzo/core/random.hpp>
#include <mezzo/data/image/draws.hpp>
#include <mezzo/ops/random_words.hpp>

namespace mezzo::detail {

/// True in training steps, in calls with `{.training = true}`, and, as in Keras, in calls outside of steps without a
/// mode.
bool changes_images();

/// Random words of a layer of this class for one image.
inline RandomWords words_of(const std::string& kind, const image::SampleKey& key) {
  return {mix(mix(key.seed, key_of(kind)), static_cast<std::uint64_t>(key.epoch)),
          static_cast<std::uint64_t>(key.index)};
}

/// A number in [low, high).
inline double within(const std::pair<double, double>& bounds, RandomWords& words) {
  return image::detail::between(bounds.first, bounds.second, words.unit());
}

/// True for a share of the images, which is drawn from the bounds.
inline bool chosen(const std::pair<double, double>& bounds, RandomWords& words) {
  const double share = within(bounds, words);
  return words.unit() < share;
}

/// A beta number with both parameters `alpha`.
inline double symmetric_beta(double alpha, RandomWords& words) {
  const double first = words.log_gamma(alpha), second = words.log_gamma(alpha);
  return 1 / (1 + std::exp(second - first));
}

}  // namespace mezzo::detail
