#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/layers/reshaping/flatten.hpp>
#include <mezzo/layers/reshaping/reshape.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/open_sizes.hpp>

namespace mezzo {

Value Flatten::call(const Value& x) {
  detail::require_rank_at_least(label(), x.shape(), 1);
  return with_sizes(
      [](const Value& y) {
        const std::int64_t elements = element_count(Shape(y.shape().begin() + 1, y.shape().end()));
        return reshape(y, {elements > 0 ? Size(-1) : y.shape()[0], elements});
      },
      x);
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
  const bool open = detail::has_open_size(x);
  const auto run = [where = label(), target = target_, open](const Value& y) {
    const std::int64_t elements = element_count(Shape(y.shape().begin() + 1, y.shape().end()));
    Shape to = target;
    const auto rest = std::find(to.begin(), to.end(), -1);
    if (rest != to.end()) {
      *rest = 1;
      const std::int64_t others = element_count(to);
      *rest = others > 0 ? elements / others : 0;
    }
    const bool trial = open && y.symbolic() && Trace::current() == nullptr;  // its sizes need not fit
    if (element_count(to) != elements && !trial) {
      fail<ShapeError>(where, "samples must have the number of elements of target_shape ({}); got shape {}",
                       fmt::join(target, ", "), y.shape());
    }
    to.insert(to.begin(), elements > 0 ? -1 : y.shape()[0].or_unknown());
    return reshape(y, to);
  };
  return with_sizes(run, x);
}

}  // namespace mezzo
