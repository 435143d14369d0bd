#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/flatten.hpp>
#include <mezzo/layers/reshape.hpp>
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

Reshape::Reshape(const ReshapeOptions& options) : Layer("Reshape", options), target_(options.target_shape) {
  const auto below = [](std::int64_t size) { return size < -1; };
  if (std::any_of(target_.begin(), target_.end(), below) || std::count(target_.begin(), target_.end(), -1) > 1) {
    fail<ValueError>(label(), "target_shape must have sizes of at least 0, and -1 once at most; got ({})",
                     fmt::join(target_, ", "));
  }
}

Value Reshape::call(const Value& x) {
  detail::require_rank_at_least(label(), x.shape(), 1);
  const std::int64_t elements = element_count(Shape(x.shape().begin() + 1, x.shape().end()));
  if (elements < 0) {
    fail<ShapeError>(label(), "all axes but the first must have known sizes; got shape {}", x.shape());
  }
  Shape to = target_;
  const auto rest = std::find(to.begin(), to.end(), -1);
  if (rest != to.end()) {
    *rest = 1;
    const std::int64_t others = element_count(to);
    *rest = others > 0 ? elements / others : 0;
  }
  if (element_count(to) != elements) {
    fail<ShapeError>(label(), "samples must have the number of elements of target_shape ({}); got shape {}",
                     fmt::join(target_, ", "), x.shape());
  }
  to.insert(to.begin(), elements > 0 ? -1 : x.shape()[0]);
  return reshape(x, to);
}

}  // namespace mezzo
