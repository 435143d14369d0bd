#include <algorithm>
#include <limits>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Reductions along axes, positions of extremes, sorting, sums along an axis.
namespace mezzo::detail {
namespace {

using Reduce = Value (*)(const Value&, const ReduceOptions&);

Value logs_of(const Value& x) { return is_floating(x.dtype()) ? x : cast(x, DType::float32); }

Value largest(const Value& x, const ReduceOptions& options) {
  return x.dtype() == DType::boolean ? mezzo::any(x, options) : mezzo::max(x, options);
}
Value smallest(const Value& x, const ReduceOptions& options) {
  return x.dtype() == DType::boolean ? mezzo::all(x, options) : mezzo::min(x, options);
}
Value l1(const Value& x, const ReduceOptions& options) { return sum(mezzo::abs(x), options); }
Value l2(const Value& x, const ReduceOptions& options) { return sqrt(sum(square(logs_of(x)), options)); }
Value log_sum(const Value& x, const ReduceOptions& options) { return log(sum(logs_of(x), options)); }
Value log_sum_exp(const Value& x, const ReduceOptions& options) { return logsumexp(logs_of(x), options); }
Value sum_square(const Value& x, const ReduceOptions& options) { return sum(square(x), options); }

/// Axes of the attribute, or of an input from opset `since` on, counted from the front; all axes if there are none.
Shape reduced_axes(OnnxCall& call, std::int64_t since) {
  const std::size_t rank = call.rank(0);
  Shape axes;
  for (const auto axis : call.ints_of("axes", 1, since).value_or(std::vector<std::int64_t>{})) {
    axes.push_back(normalize_axis(axis, rank, call.where() + " axes"));
  }
  if (!axes.empty()) return axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

/// `empty`: the result for no elements; none if the function has one.
void reduce(OnnxCall& call, Reduce f, std::int64_t since, const std::optional<double>& empty) {
  const bool keepdims = call.integer("keepdims", 1) != 0;
  const bool no_axes = call.opset() >= since ? !call.has(1) || call.shape(1) == Shape{0} : !call.has_attribute("axes");
  if (call.integer("noop_with_empty_axes", 0) != 0 && no_axes) return call.put(call.in(0));
  const Shape axes = reduced_axes(call, since), shape = call.shape(0);
  const DType dtype = call.dtype(0);
  const auto finished = [&](const Value& y) { return is_floating(dtype) || y.dtype() == dtype ? y : cast(y, dtype); };
  if (axes.empty()) return call.put(finished(f(call.in(0), {})));
  if (empty &&
      std::any_of(axes.begin(), axes.end(), [&](auto axis) { return shape[static_cast<std::size_t>(axis)] == 0; })) {
    Shape left;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const bool reduced = std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) > 0;
      if (!reduced || keepdims) left.push_back(reduced ? 1 : shape[i]);
    }
    return call.put(full(left, *empty, dtype));
  }
  const bool channels = std::count(axes.begin(), axes.end(), 1) > 0;
  if (call.has_last(0) && (keepdims || (!channels && axes.size() + 2 >= shape.size()))) {
    Shape moved;
    for (const auto axis : axes) moved.push_back(axis_with_channels_last(axis, shape.size()));
    const Value y = finished(f(call.in_last(0), {.axes = moved, .keepdims = keepdims}));
    return keepdims ? call.put_last(y) : call.put(y);
  }
  call.put(finished(f(call.in(0), {.axes = axes, .keepdims = keepdims})));
}

OnnxOperator reduction(Reduce f, std::int64_t since = 18, std::optional<double> empty = {}) {
  return {.run = [=](OnnxCall& call) { reduce(call, f, since, empty); }, .least = 1, .most = 2};
}

void run_arg(OnnxCall& call, Value (*f)(const Value&, std::int64_t)) {
  const std::int64_t axis = call.axis("axis", 0, call.rank(0));
  const bool keepdims = call.integer("keepdims", 1) != 0, last = call.integer("select_last_index", 0) != 0;
  const Value x = call.in(0);
  Value place = f(last ? flip(x, axis) : x, axis);
  if (last) place = call.shape(0)[static_cast<std::size_t>(axis)] - 1 - place;
  call.put(keepdims ? expand_dims(place, axis) : place);
}

void run_cum_sum(OnnxCall& call) {
  const std::int64_t axis = normalize_axis(call.one_int(1, "axis"), call.rank(0), call.where() + " axis");
  const bool reverse = call.integer("reverse", 0) != 0, exclusive = call.integer("exclusive", 0) != 0;
  const Value x = call.in(0);
  Value y = cumsum(reverse ? flip(x, axis) : x, axis);
  if (exclusive) {
    const Shape shape = y.shape();
    Shape before(shape.size(), 0);
    before[static_cast<std::size_t>(axis)] = 1;
    y = slice(pad(y, {.before = before, .after = Shape(shape.size(), 0)}), {Shape(shape.size(), 0), shape});
  }
  if (reverse) y = flip(y, axis);
  call.put(!is_floating(call.dtype(0)) ? cast(y, call.dtype(0)) : y);
}

void run_top_k(OnnxCall& call) {
  call.ignore("sorted");
  const std::int64_t k = call.opset() < 10 ? call.integer("k", 0) : call.one_int(1, "K");
  const std::int64_t axis = call.axis("axis", -1, call.rank(0));
  const Shape shape = call.shape(0);
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  if (k < 0 || (size >= 0 && k > size)) call.refuse("K must be at most {}; got {}", size, k);
  const bool largest_first = call.integer("largest", 1) != 0;
  const Value x = moveaxis(call.in(0), axis, -1);
  Value values, indices;
  if (largest_first && k > 0) {
    const TopK top = top_k(x, k);
    values = top.values;
    indices = top.indices;
  } else {
    Shape starts(shape.size(), 0), sizes(shape.size(), -1);
    sizes.back() = k;
    indices = slice(argsort(x), {starts, sizes});
    values = take_along_axis(x, indices, -1);
  }
  call.put(moveaxis(values, -1, axis));
  if (call.wants(1)) call.put(moveaxis(indices, -1, axis), 1);
}

}  // namespace

void add_onnx_reductions(OnnxOperators& table) {
  const double infinity = std::numeric_limits<double>::infinity();
  table["ReduceSum"] = reduction(mezzo::sum, 13);
  table["ReduceMean"] = reduction(mezzo::mean);
  table["ReduceMax"] = reduction(largest, 18, -infinity);
  table["ReduceMin"] = reduction(smallest, 18, infinity);
  table["ReduceProd"] = reduction(mezzo::prod);
  table["ReduceL1"] = reduction(l1);
  table["ReduceL2"] = reduction(l2);
  table["ReduceLogSum"] = reduction(log_sum);
  table["ReduceLogSumExp"] = reduction(log_sum_exp);
  table["ReduceSumSquare"] = reduction(sum_square);
  table["ArgMax"] = {.run = [](OnnxCall& call) { run_arg(call, argmax); }};
  table["ArgMin"] = {.run = [](OnnxCall& call) { run_arg(call, argmin); }};
  table["CumSum"] = {.run = run_cum_sum, .least = 2, .most = 2};
  table["TopK"] = {.run = run_top_k, .least = 1, .most = 2, .outputs = 2};
}

}  // namespace mezzo::detail
