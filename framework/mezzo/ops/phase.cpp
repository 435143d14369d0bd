#include <mezzo/ops/phase.hpp>

#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

Value counter(RuntimeScalar scalar) {
  return defer([scalar](const Values&) { return cast(runtime_scalar(scalar), DType::int64); }, DType::int64);
}

}  // namespace

Value training() {
  return defer([](const Values&) { return Value(Tensor::scalar(training_phase() ? 1 : 0, DType::boolean)); },
               DType::boolean);
}

Value step() { return counter(RuntimeScalar::step); }

Value epoch() { return counter(RuntimeScalar::epoch); }

}  // namespace mezzo
