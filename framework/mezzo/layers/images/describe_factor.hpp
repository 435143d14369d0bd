#pragma once
#include <utility>
#include <vector>

#include <mezzo/layers/images/image_augmentation.hpp>
#include <mezzo/nn/fields.hpp>

// Parts of describe() that layers of images share.
namespace mezzo {

/// Bounds of a random number.
inline void describe_factor(Fields& fields, const char* name, detail::Factor& factor) {
  std::vector<double> numbers = factor.numbers();
  fields(name, numbers);
  factor = detail::Factor(std::move(numbers));
}

/// Options of layers that move pixels.
template <class Options>
void describe_sampling(Fields& fields, Options& options) {
  fields("fill_mode", options.fill_mode);
  fields("interpolation", options.interpolation);
  fields("seed", options.seed);
  fields("fill_value", options.fill_value);
}

/// Options of layers that change colors.
template <class Options>
void describe_colors(Fields& fields, Options& options) {
  describe_factor(fields, "factor", options.factor);
  describe_factor(fields, "value_range", options.value_range);
  fields("seed", options.seed);
}

}  // namespace mezzo
