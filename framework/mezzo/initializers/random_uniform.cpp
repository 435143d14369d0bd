#include <mezzo/initializers/random_uniform.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/draw.hpp>

namespace mezzo {

RandomUniform::RandomUniform(RandomUniformOptions options) : options_(options) {
  if (!(options_.minval <= options_.maxval)) {
    fail<ValueError>("[RandomUniform]", "maxval must not be below minval; got minval {}, maxval {}", options_.minval,
                     options_.maxval);
  }
}

Tensor RandomUniform::make(const Shape& shape, DType dtype, std::uint64_t key) const {
  return detail::draw_each(shape, dtype, [&](std::uint64_t i) {
    return options_.minval + (options_.maxval - options_.minval) * detail::uniform(key, i);
  });
}

}  // namespace mezzo
