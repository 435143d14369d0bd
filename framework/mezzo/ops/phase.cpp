#include <mezzo/ops/phase.hpp>

#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

Value counter(RuntimeScalar scalar) {
  const auto now = [scalar](const Values&) { return Values{cast(runtime_scalar(scalar), DType::int64)}; };
  return defer(now, {}, {{{}, DType::int64}}).front();
}

}  // namespace

Value training() {
  const auto now = [](const Values&) { return Values{Tensor::scalar(training_phase() ? 1 : 0, DType::boolean)}; };
  return defer(now, {}, {{{}, DType::boolean}}).front();
}

Value step() { return counter(RuntimeScalar::step); }

Value epoch() { return counter(RuntimeScalar::epoch); }

}  // namespace mezzo
