#include <mezzo/layers/preprocessing/rescaling.hpp>

#include <mezzo/layers/in_wide.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

Rescaling::Rescaling(RescalingOptions options) : Layer("Rescaling", options), options_(std::move(options)) {
  detail::require_finite(label(), "scale", options_.scale);
  detail::require_finite(label(), "offset", options_.offset);
}

Value Rescaling::call(const Value& x) {
  return detail::in_wide({x}, x.shape(), [options = options_](const Values& xs) {
    const Value scaled = xs[0] * options.scale;
    return options.offset == 0 ? scaled : scaled + options.offset;
  });
}

}  // namespace mezzo
