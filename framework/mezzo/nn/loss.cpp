#include <mezzo/nn/loss.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/number_targets.hpp>
#include <mezzo/nn/sample_weights.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

/// Number of values, divided by a count; 0 if that is 0.
Value over(const Value& values, const Value& count) {
  double number = 1;
  for (const std::int64_t size : values.shape()) number *= static_cast<double>(size);
  const Value none = equal(count, 0.0);
  return where(none, 0.0, number / where(none, 1.0, count));
}

}  // namespace

std::pair<Value, Value> detail::same_rank(const Value& y_true, const Value& y_pred) {
  const std::size_t rank_true = y_true.shape().size(), rank_pred = y_pred.shape().size();
  if (rank_true == rank_pred + 1 && y_true.shape().back() == 1) {
    if (rank_pred == 1) return {y_true, expand_dims(y_pred, -1)};
    return {squeeze(y_true, -1), y_pred};
  }
  if (rank_pred == rank_true + 1 && y_pred.shape().back() == 1) {
    if (rank_true == 1) return {expand_dims(y_true, -1), y_pred};
    return {y_true, squeeze(y_pred, -1)};
  }
  return {y_true, y_pred};
}

Value detail::number_targets(const Value& y_true, const Value& y_pred) {
  if (!y_true.defined() || !y_pred.defined() || is_floating(y_true.dtype())) return y_true;
  const detail::LibraryScope as_inserted;
  if (Trace::current() != nullptr) {
    const bool wide = y_pred.dtype() == DType::float64;
    return cast(y_true, wide ? DType::float64 : DType::float32).across_border(false);
  }
  const bool narrow = dtype_size(y_true.dtype()) < dtype_size(DType::int32);
  return narrow ? cast(y_true, DType::int32).across_border(false) : y_true;
}

Loss::Loss(std::string name, std::string reduction) : name_(std::move(name)), reduction_(std::move(reduction)) {
  const char* const names[] = {"sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none"};
  if (std::none_of(std::begin(names), std::end(names), [&](const char* valid) { return reduction_ == valid; })) {
    fail<ValueError>("", "[{}] reduction must be one of {}; got \"{}\"", name_, fmt::join(names, ", "), reduction_);
  }
}

Value Loss::mask(const Value&, const Value&) const { return {}; }

Value Loss::operator()(const Value& y_true, const Value& y_pred, const Value& sample_weight) const {
  check_not_moved();
  Value values = call(detail::number_targets(y_true, y_pred), y_pred);
  const detail::LibraryScope as_inserted;
  Value weight;
  if (const Value valid = detail::mask_of(name_, y_pred.mask(), mask(y_true, values), values); valid.defined()) {
    weight = cast(valid, values.dtype()).across_border(false);
    if (reduction_ == "sum_over_batch_size" || reduction_ == "mean") weight = weight * over(weight, sum(weight));
  }
  if (sample_weight.defined()) {
    const Value given = detail::weight_like(name_, sample_weight, values);
    weight = weight.defined() ? weight * given : given;
  }
  if (weight.defined()) values = values * weight;
  if (reduction_ == "none" || values.shape().empty()) return values;
  if (reduction_ == "sum") return sum(values);
  if (reduction_ != "mean_with_sample_weight" || !weight.defined()) return mean(values);
  const Value total = sum(broadcast_to(weight, values.shape()));
  const Value none = equal(total, 0.0);
  return where(none, 0.0, sum(values) / where(none, 1.0, total));
}

}  // namespace mezzo
