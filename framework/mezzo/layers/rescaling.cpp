#include <mezzo/layers/rescaling.hpp>

namespace mezzo {

Value Rescaling::call(const Value& x) {
  const Value scaled = x * options_.scale;
  return options_.offset == 0 ? scaled : scaled + options_.offset;
}

}  // namespace mezzo
