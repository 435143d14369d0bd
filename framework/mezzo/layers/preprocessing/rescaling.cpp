#include <mezzo/layers/preprocessing/rescaling.hpp>

#include <mezzo/layers/in_wide.hpp>

namespace mezzo {

Value Rescaling::call(const Value& x) {
  return detail::in_wide({x}, x.shape(), [options = options_](const Values& xs) {
    const Value scaled = xs[0] * options.scale;
    return options.offset == 0 ? scaled : scaled + options.offset;
  });
}

}  // namespace mezzo
