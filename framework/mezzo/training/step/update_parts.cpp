#include <mezzo/training/step/update_parts.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

Attributes with_headroom(Attributes attributes, double headroom) {
  if (headroom > 0) attributes.set("headroom", headroom);
  return attributes;
}

}  // namespace

void require_repeatable(const Optimizer& optimizer, const std::string& where, const std::string& call) {
  if (optimizer.accumulation_steps() > 1) {
    fail<ValueError>(where,
                     "{} must be called once per step if gradients are accumulated, since windows count steps; got a "
                     "second call and windows of {} steps",
                     call, optimizer.accumulation_steps());
  }
  if (optimizer.common().ema_overwrite_frequency > 0) {
    fail<ValueError>(where,
                     "{} must be called once per step with ema_overwrite_frequency, which acts between steps; got a "
                     "second call",
                     call);
  }
}

Optimizer::Step next_step(std::size_t optimizer, const Values& accepted, bool may_skip) {
  Optimizer::Step step{.learning_rate = runtime_scalar(RuntimeScalar::learning_rate, optimizer, accepted.size()),
                       .count = runtime_scalar(RuntimeScalar::count, optimizer),
                       .multiplier = constant(1)};
  if (accepted.empty()) return step;
  Value made = accepted.front();  // updates of this step that were not skipped
  for (std::size_t i = 1; i < accepted.size(); ++i) made = made + accepted[i];
  step.count = step.count + made;
  for (std::size_t i = accepted.size(); may_skip && i-- > 0;) {
    const Value rate = runtime_scalar(RuntimeScalar::learning_rate, optimizer, i);
    step.learning_rate = where(made < constant(static_cast<double>(i) + 0.5), rate, step.learning_rate);
  }
  return step;
}

GradientFactor gradient_factor(const Value& divisor, const Values& gradients, double bound, double headroom) {
  Values operands{divisor};
  operands.insert(operands.end(), gradients.begin(), gradients.end());
  const Values out = insert(ops::gradient_multiplier, operands, with_headroom({{"clipnorm", bound}}, headroom));
  return {out[0], out[1]};
}

Value gradient_is_finite(const Value& gradient, double headroom) {
  return insert_one(ops::all_finite, {gradient}, with_headroom({}, headroom));
}

}  // namespace mezzo::detail
