#include <mezzo/initializers/constant.hpp>

#include <mezzo/initializers/draw.hpp>

namespace mezzo {

Tensor Constant::make(const Shape& shape, DType dtype, std::uint64_t) const {
  return detail::draw_each(shape, dtype, [value = value_](std::uint64_t) { return value; });
}

}  // namespace mezzo
