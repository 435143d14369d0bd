#include <mezzo/ops/phase.hpp>

#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

Value counter(detail::RuntimeScalar scalar) {
  const auto now = [scalar](const Values&) { return Values{cast(detail::runtime_scalar(scalar), DType::int64)}; };
  return detail::defer(now, {}, {{{}, DType::int64}}).front();
}

}  // namespace

Value training() {
  const auto now = [](const Values&) {
    return Values{Tensor::scalar(detail::training_phase() ? 1 : 0, DType::boolean)};
  };
  return detail::defer(now, {}, {{{}, DType::boolean}}).front();
}

Value step() { return counter(detail::RuntimeScalar::step); }

Value epoch() { return counter(detail::RuntimeScalar::epoch); }

}  // namespace mezzo
