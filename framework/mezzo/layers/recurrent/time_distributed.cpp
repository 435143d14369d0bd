#include <mezzo/layers/recurrent/time_distributed.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/open_sizes.hpp>

namespace mezzo {
namespace {

/// (batch, steps, ...) as (batch * steps, ...).
Value steps_as_batch(const Value& x) {
  const Shape& shape = x.shape();
  Shape merged(shape.begin() + 1, shape.end());
  merged[0] = shape[0] < 0 ? -1 : shape[0] * shape[1];
  return reshape(x, merged);
}

/// (batch * steps, ...) with the batch and steps of `like`.
Value steps_apart(const Value& y, const Value& like) {
  Shape shape = y.shape();
  shape[0] = like.shape()[1].or_unknown();
  shape.insert(shape.begin(), like.shape()[0].or_unknown());
  return reshape(y, shape);
}

}  // namespace

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
  const Value y = layer()(with_sizes(steps_as_batch, x));
  return with_sizes([](const Values& xs) -> Values { return {steps_apart(xs[0], xs[1])}; }, {y, x}).front();
}

}  // namespace mezzo
