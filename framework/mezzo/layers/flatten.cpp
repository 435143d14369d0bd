#include <mezzo/layers/flatten.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

Value Flatten::call(const Value& x) {
  detail::require_rank_at_least(label(), x.shape(), 1);
  const std::int64_t elements = element_count(Shape(x.shape().begin() + 1, x.shape().end()));
  if (elements < 0) {
    fail<ShapeError>(label(), "all axes but the first must have known sizes; got shape {}", x.shape());
  }
  return reshape(x, {elements > 0 ? -1 : x.shape()[0], elements});
}

}  // namespace mezzo
