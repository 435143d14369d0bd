#include <mezzo/layers/in_wide.hpp>

#include <optional>
#include <utility>

#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/listed.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

Value whole(const Value& x, DType dtype) { return as((x.weak() ? Value(x.tensor()) : x).across_border(false), dtype); }

DType compute_dtype_for(const Value& x) {
  if (casts_disabled() || under_op_lists()) return is_floating(x.dtype()) ? x.dtype() : DType::float32;
  return current_policy().compute_dtype();
}

}  // namespace

Value in_wide(const Values& inputs, const Shape& shape, std::function<Value(const Values&)> function) {
  const auto run = [function = std::move(function)](const Values& xs) -> Values {
    const DType narrow = compute_dtype_for(xs[0]);
    std::optional<LibraryScope> as_inserted;
    if (under_op_lists()) as_inserted.emplace();
    Values wide;
    for (const Value& x : xs) wide.push_back(whole(x, accumulation_dtype(narrow)));
    return {as(function(wide), narrow)};
  };
  return defer(run, inputs, {{shape, compute_dtype_for(inputs[0])}}).front();
}

bool is_wider_than_compute(const Value& x) {
  const DType narrow = compute_dtype_for(x);
  return accumulation_dtype(narrow) != narrow && x.dtype() != narrow && x.dtype() != DType::boolean;
}

}  // namespace mezzo::detail
