#include <mezzo/layers/time_distributed.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

TimeDistributed::TimeDistributed(const TimeDistributedOptions& options) : Wrapper("TimeDistributed", options) {}

TimeDistributedOptions TimeDistributed::with_layer(Any<Layer> layer, TimeDistributedOptions options) {
  if (options.layer) detail::fail_given_twice("TimeDistributed", options.name, "layer");
  options.layer = std::move(layer);
  return options;
}

void TimeDistributed::build(const Shape& input) {
  detail::require_rank_at_least(label(), input, 3);
  Shape step = input;
  step.erase(step.begin() + 1);
  Wrapper::build(step);
}

Value TimeDistributed::call(const Value& x) {
  detail::require_rank_at_least(label(), x.shape(), 3);
  const Shape& shape = x.shape();
  if (shape[1] < 0) fail<ShapeError>(label(), "the number of steps must be known; got shape {}", shape);
  Shape merged(shape.begin() + 1, shape.end());
  merged[0] = shape[0] < 0 ? -1 : shape[0] * shape[1];
  const Value y = layer()(reshape(x, merged));
  Shape result = y.shape();
  result[0] = shape[1];
  result.insert(result.begin(), shape[0]);
  return reshape(y, result);
}

}  // namespace mezzo
