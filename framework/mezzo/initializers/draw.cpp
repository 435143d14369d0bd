#include <mezzo/initializers/draw.hpp>

#include <cmath>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::detail {

Tensor draw_each(const Shape& shape, DType dtype, const std::function<double(std::uint64_t)>& draw) {
  Tensor out = Tensor::uninitialized(shape, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* elements = out.mutable_data<T>();
    parallel_for(out.size(), 1024, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) elements[i] = convert<T>(draw(static_cast<std::uint64_t>(i)));
    });
  });
  return out;
}

double uniform(std::uint64_t key, std::uint64_t i) {
  const auto words = philox(key, i);
  return unit_double(words[0], words[1]);
}

double normal(std::uint64_t key, std::uint64_t i, std::uint64_t attempt) {
  constexpr double two_pi = 6.283185307179586;
  const auto words = philox(key, i, attempt);
  const double radius = std::sqrt(-2 * std::log(1 - unit_double(words[0], words[1])));
  return radius * std::cos(two_pi * unit_double(words[2], words[3]));
}

double truncated_normal(std::uint64_t key, std::uint64_t i) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const double x = normal(key, i, attempt);
    if (std::abs(x) <= 2) return x;
  }
}

}  // namespace mezzo::detail
