#include <mezzo/optimizers/clip.hpp>

#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {

Value gradient_multiplier(const OptimizerCommon& common, const Value& gradient, const Optimizer::Step& step) {
  if (common.clipnorm == 0) return step.multiplier;
  const Value scale = 1.0 / step.multiplier;
  return insert(ops::gradient_multiplier, {scale, gradient}, {{"clipnorm", common.clipnorm}}).front();
}

}  // namespace mezzo::detail
