#include <mezzo/training/ranks/rank_step.hpp>

#include <limits>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

Value number(double x) { return Tensor::scalar(x, DType::float64); }

}  // namespace

RankChecks check_over_ranks(const RankStep& ranks, const Value& loss, const Values& gradients, Value& after) {
  const bool shards = ranks.shards != nullptr;
  Values operands{number(1)};
  operands.insert(operands.end(), gradients.begin(), gradients.end());
  const double clipnorm = shards ? std::numeric_limits<double>::infinity() : 0;  // the sum of squares, without a clip
  const Values found = insert(ops::gradient_multiplier, operands, {{"clipnorm", clipnorm}});
  const Value bad = insert_one(ops::where, {found[1], number(0), number(1)}, {{orders_only, true}});
  std::vector<Reduced> values{{.value = loss}, {.value = bad, .weighted = !shards}};
  if (shards) values.push_back({.value = found[2], .weighted = false});
  reduce_over_ranks(ranks.communicator, values, after);
  return {values[0].value, equal(values[1].value, number(0)), shards ? values[2].value : Value()};
}

Value multiplier_of(const Value& divisor, const Value& squares, double clipnorm) {
  if (clipnorm == 0) return number(1) / divisor;
  const Value norm = sqrt(squares) / divisor;
  return where(greater(norm, number(clipnorm)), number(clipnorm) / norm, number(1)) / divisor;
}

}  // namespace mezzo::detail
