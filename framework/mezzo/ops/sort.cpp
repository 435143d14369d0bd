#include <algorithm>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/sorting.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_argsort(const OpCall& call) { return {{call.inputs[0].shape, DType::int64}}; }

std::vector<Spec> infer_top_k(const OpCall& call) {
  Spec out = call.inputs[0];
  const auto k = call.attributes.get<std::int64_t>("k");
  if (out.shape.empty()) fail<ShapeError>(call.where, "input 0 must have at least 1 axis; got shape ()");
  if (k < 1 || k > out.shape.back()) {
    fail<ValueError>(call.where, "k must be in [1, {}] (size of the last axis); got {}", out.shape.back(), k);
  }
  out.shape.back() = k;
  return {out, {out.shape, DType::int64}};
}

std::vector<Spec> infer_in_top_k(const OpCall& call) {
  const Shape& targets = call.inputs[0].shape;
  const Shape& predictions = call.inputs[1].shape;
  detail::require_integers(call, 0, "targets");
  detail::require_float(call, 1);
  if (predictions.size() != 2 || targets != Shape{predictions[0]}) {
    fail<ShapeError>(call.where, "targets must be (batch,) and predictions (batch, classes); got {} and {}", targets,
                     predictions);
  }
  return {{targets, DType::boolean}};
}

std::vector<Spec> infer_searchsorted(const OpCall& call) {
  if (call.inputs[0].shape.size() != 1) {
    fail<ShapeError>(call.where, "the sorted sequence must have 1 axis; got shape {}", call.inputs[0].shape);
  }
  return {{call.inputs[1].shape, DType::int64}};
}

Values top_k_gradient(const GradientContext& context) {
  if (!context.cotangent().defined()) return Values(1);
  const Shape& shape = context.input(0).shape();
  return {insert_one(
      ops::scatter_add_along_axis, {context.output(1), context.cotangent()},
      {{"axis", static_cast<std::int64_t>(shape.size()) - 1}, {"size", shape.back()}, {"dtype", context.dtype(0)}})};
}

/// The array and the normalized axis of a function whose axis may be left out.
struct Along {
  Value x;
  std::int64_t axis;

  Along(const Value& all, std::optional<std::int64_t> given, const char* name)
      : x(given ? all : reshape(all, {-1})),
        axis(detail::normalize_axis(given.value_or(0), x.shape().size(), detail::current_label(name))) {}
};

Value order_of(const Along& along) { return insert_one(ops::argsort, {along.x}, {{"axis", along.axis}}); }

}  // namespace

Op detail::define_argsort() {
  Op op;
  op.infer = infer_argsort;
  return op;
}

Op detail::define_top_k() {
  Op op;
  op.infer = infer_top_k;
  op.gradient = top_k_gradient;
  return op;
}

Op detail::define_in_top_k() {
  Op op;
  op.cast.operands = {Cast::keep, Cast::compute};
  op.infer = infer_in_top_k;
  return op;
}

Op detail::define_searchsorted() {
  Op op;
  op.infer = infer_searchsorted;
  return op;
}

Value argsort(const Value& x, std::optional<std::int64_t> axis) { return order_of({x, axis, "argsort"}); }

Value sort(const Value& x, std::optional<std::int64_t> axis) {
  const Along along(x, axis, "sort");
  return take_along_axis(along.x, order_of(along), along.axis);
}

TopK top_k(const Value& x, std::int64_t k) {
  const Values both = insert(ops::top_k, {x}, {{"k", k}});
  return {both[0], both[1]};
}

Value in_top_k(const Value& targets, const Value& predictions, std::int64_t k) {
  return insert_one(ops::in_top_k, {detail::as_labels(targets), predictions}, {{"k", k}});
}

Value searchsorted(const Value& sorted_sequence, const Value& values, const char* side) {
  const std::string name = side;
  if (name != "left" && name != "right") {
    fail_unknown(detail::current_label("searchsorted"), "side", name, {"left", "right"});
  }
  return insert_one(ops::searchsorted, {sorted_sequence, values}, {{"right", name == "right"}});
}

Value digitize(const Value& x, const Value& bins) { return searchsorted(bins, x, "right"); }

Value bincount(const Value& given, const BincountOptions& options) {
  const Value x = detail::as_labels(given);
  const std::string where = detail::current_label("bincount");
  if (options.minlength < 0) fail<ValueError>(where, "minlength must be at least 0; got {}", options.minlength);
  if (x.shape().size() != 1) fail<ShapeError>(where, "x must have 1 axis; got shape {}", x.shape());
  if (is_floating(x.dtype()) || x.dtype() == DType::boolean) {
    fail<DTypeError>(where, "x must be integers; got {}", x.dtype());
  }
  std::int64_t size = options.minlength;
  if (!x.symbolic()) {
    for (const double number : x.tensor().to_doubles()) {
      size = std::max(size, static_cast<std::int64_t>(number) + 1);
    }
  } else if (size == 0) {
    fail<ValueError>(where, "minlength must be given for a symbolic x, whose largest element is not known; got 0");
  }
  if (options.weights.defined()) return segment_sum(options.weights, x, size);
  return segment_sum(Tensor(x.shape(), std::vector<std::int32_t>(static_cast<std::size_t>(x.shape()[0]), 1)), x, size);
}

Histogram histogram(const Value& x, const HistogramOptions& options) {
  const std::string label = detail::current_label("histogram");
  if (options.bins < 1) fail<ValueError>(label, "bins must be at least 1; got {}", options.bins);
  DType narrow{};
  const Value wide = reshape(detail::as_wide(x, narrow), {-1});
  Value low = 0.0, high = 1.0;
  if (options.range) {
    if (!(options.range->first <= options.range->second)) {
      fail<ValueError>(label, "range must ascend; got ({}, {})", options.range->first, options.range->second);
    }
    low = Tensor::scalar(options.range->first, wide.dtype());
    high = Tensor::scalar(options.range->second, wide.dtype());
  } else if (wide.shape()[0] != 0) {
    low = min(wide);
    high = max(wide);
  } else {
    low = Tensor::scalar(0, wide.dtype());
    high = Tensor::scalar(1, wide.dtype());
  }
  const Value single = equal(low, high);  // a bin of width 1 around the one number
  low = where(single, low - 0.5, low);
  high = where(single, high + 0.5, high);
  const Value places = arange(options.bins).cast(wide.dtype());
  const Value inside = low + (high - low) * (places / static_cast<double>(options.bins));
  const Value edges = concat({inside, reshape(high, {1})}, 0);  // the last one exactly
  const Value sorted = sort(wide, 0);
  const Value below = searchsorted(sorted, inside);
  const Value end = searchsorted(sorted, reshape(high, {1}), "right");
  return {diff(concat({below, end}, 0)), edges};
}

}  // namespace mezzo
