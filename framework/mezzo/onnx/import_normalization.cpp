#include <cmath>

#include <mezzo/graph/insert.hpp>
#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/ops.hpp>

// Normalization. Statistics are computed in float32 at least.
namespace mezzo::detail {
namespace {

Value widened(const Value& x) {
  const DType wide = accumulation_dtype(x.dtype());
  return x.dtype() == wide ? x : cast(x, wide);
}

/// Result in the dtype that x enters ops with.
Value narrowed(const Value& y, const Value& x) {
  DType to = x.dtype();
  if (x.crosses_border() && is_floating(to)) to = current_policy().compute_dtype();
  return y.dtype() == to ? y : cast(y, to);
}

/// (x - mean) / sqrt(variance + epsilon) over axes.
Value standardized(const Value& x, const Shape& axes, double epsilon) {
  const Value centred = x - mean(x, {.axes = axes, .keepdims = true});
  return centred * rsqrt(mean(square(centred), {.axes = axes, .keepdims = true}) + epsilon);
}

/// Axes [begin, end).
Shape axes_between(std::size_t begin, std::size_t end) {
  Shape out;
  for (std::size_t i = begin; i < end; ++i) out.push_back(static_cast<std::int64_t>(i));
  return out;
}

/// Statistics of the batch, whatever the mode of the run: for files whose outputs are the statistics.
void put_batch_statistics(OnnxCall& call, double epsilon, double momentum) {
  const Value x = widened(call.in_last(0));
  const Shape axes = axes_between(0, x.shape().size() - 1);
  const Value batch_mean = mean(x, {.axes = axes}), batch_variance = var(x, {.axes = axes});
  const Value y = (x - batch_mean) * (rsqrt(batch_variance + epsilon) * call.in(1)) + call.in(2);
  call.put_last(narrowed(y, call.in_last(0)));
  if (call.wants(1)) call.put(call.in(3) * momentum + batch_mean * (1 - momentum), 1);
  if (call.wants(2)) call.put(call.in(4) * momentum + batch_variance * (1 - momentum), 2);
}

void run_batch_normalization(OnnxCall& call) {
  const double epsilon = call.number("epsilon", 1e-5), momentum = call.number("momentum", 0.9);
  call.ignore("training_mode");
  call.ignore("is_test");  // of opset 6
  if (call.integer("spatial", 1) != 1) call.refuse("spatial must be 1; got 0");
  if (call.rank(0) < 2) call.refuse("input 0 must have batch and channels; got shape {}", call.shape(0));
  for (std::size_t i = 1; i < 5; ++i) {
    const Shape wanted{call.shape(0)[1]};
    if (call.shape(i) != wanted) call.refuse("input {} must have shape {}; got shape {}", i, wanted, call.shape(i));
  }
  if (call.wants(1) || call.wants(2)) {
    for (std::size_t i = 3; i < 5; ++i) {
      if (call.wants(i)) call.refuse("output {} isn't supported", i);
    }
    return put_batch_statistics(call, epsilon, momentum);
  }
  const BatchNormResult result = batch_norm(call.in_last(0), call.in(1), call.in(2), call.in(3), call.in(4),
                                            {.epsilon = epsilon, .momentum = momentum});
  const Variable *moving_mean = call.variable(3), *moving_variance = call.variable(4);
  if (moving_mean != nullptr) update_in_training(moving_mean->state().pointer(), result.moving_mean);
  if (moving_variance != nullptr) update_in_training(moving_variance->state().pointer(), result.moving_variance);
  call.put_last(result.y);
}

void run_instance_normalization(OnnxCall& call) {
  const double epsilon = call.number("epsilon", 1e-5);
  if (call.rank(0) < 3) call.refuse("input 0 must have spatial axes; got shape {}", call.shape(0));
  const Value x = call.in_last(0);
  const Value y = standardized(widened(x), axes_between(1, x.shape().size() - 1), epsilon) * call.in(1) + call.in(2);
  call.put_last(narrowed(y, x));
}

void run_layer_normalization(OnnxCall& call) {
  call.ignore("stash_type");
  const double epsilon = call.number("epsilon", 1e-5);
  const Value x = call.in(0);
  const Shape shape = x.shape();
  const auto axis = static_cast<std::size_t>(call.axis("axis", -1, shape.size()));
  const Shape sizes(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end());
  if (call.wants(1) || call.wants(2)) {
    const Shape axes = axes_between(axis, shape.size());
    const Value wide = widened(x), centre = mean(wide, {.axes = axes, .keepdims = true});
    if (call.wants(1)) call.put(centre, 1);
    if (call.wants(2)) call.put(rsqrt(mean(square(wide - centre), {.axes = axes, .keepdims = true}) + epsilon), 2);
  }
  const Value gamma = call.in(1), beta = call.has(2) ? call.in(2) : Value(Tensor(sizes));
  const auto fits = [&](const Value& v) { return Shape(v.shape()) == sizes; };
  const Value scale = fits(gamma) ? gamma : broadcast_to(gamma, sizes);
  call.put(layer_norm(x, scale, fits(beta) ? beta : broadcast_to(beta, sizes), epsilon));
}

/// Groups of channels. Scale and bias have one number for each group before opset 21, later for each channel.
void run_group_normalization(OnnxCall& call) {
  call.ignore("stash_type");
  const double epsilon = call.number("epsilon", 1e-5);
  const std::int64_t groups = call.integer("num_groups", 0);
  const Shape shape = call.shape(0);
  if (shape.size() < 3 || groups < 1 || shape[1] % groups != 0) {
    call.refuse("channels must be a multiple of num_groups ({}); got shape {}", groups, shape);
  }
  const Value x = call.in(0);
  const std::int64_t of_group = shape[1] / groups, pixels = product_of(shape, 2, shape.size());
  Value y = standardized(widened(reshape(x, {shape[0], groups, of_group * pixels})), {2}, epsilon);
  const std::int64_t parts = call.opset() < 21 ? groups : shape[1];
  const Value scale = reshape(call.in(1), {1, parts, 1}), bias = reshape(call.in(2), {1, parts, 1});
  y = reshape(y, {shape[0], parts, shape[1] / parts * pixels}) * scale + bias;
  call.put(narrowed(reshape(y, shape), x));
}

void run_mean_variance_normalization(OnnxCall& call) {
  Shape axes = call.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  const Value x = call.in(0), wide = widened(x);
  const Value centred = wide - mean(wide, {.axes = axes, .keepdims = true});
  const Value deviation = sqrt(mean(square(centred), {.axes = axes, .keepdims = true}));
  call.put(narrowed(centred / (deviation + 1e-9), x));
}

void run_lp_normalization(OnnxCall& call) {
  const Value x = call.in(0), wide = widened(x);
  const std::int64_t axis = call.axis("axis", -1, call.rank(0)), p = call.integer("p", 2);
  if (p != 1 && p != 2) call.refuse("p must be 1 or 2; got {}", p);
  const ReduceOptions options{.axes = {axis}, .keepdims = true};
  const Value norm = p == 1 ? sum(mezzo::abs(wide), options) : sqrt(sum(square(wide), options));
  call.put(narrowed(wide / norm, x));
}

/// Local response normalization over neighbouring channels.
void run_lrn(OnnxCall& call) {
  const double alpha = call.number("alpha", 1e-4), beta = call.number("beta", 0.75), bias = call.number("bias", 1);
  const std::int64_t size = call.integer("size", 0);
  if (size < 1 || size > 1024) call.refuse("size must be from 1 to 1024; got {}", size);
  const Value x = call.in_last(0), wide = widened(x);
  const Shape shape = x.shape();
  PadOptions padding{.before = Shape(shape.size(), 0), .after = Shape(shape.size(), 0)};
  padding.before.back() = (size - 1) / 2;
  padding.after.back() = size - 1 - (size - 1) / 2;
  const Value squares = pad(square(wide), padding);
  Value total;
  for (std::int64_t i = 0; i < size; ++i) {
    Shape starts(shape.size(), 0), sizes(shape.size(), -1);
    starts.back() = i;
    sizes.back() = shape.back();
    const Value part = slice(squares, {starts, sizes});
    total = total.defined() ? total + part : part;
  }
  call.put_last(narrowed(wide / power(total * (alpha / static_cast<double>(size)) + bias, beta), x));
}

}  // namespace

void add_onnx_normalization(OnnxOperators& table) {
  table["BatchNormalization"] = {.run = run_batch_normalization, .least = 5, .most = 5, .outputs = 5, .folds = false};
  table["InstanceNormalization"] = {.run = run_instance_normalization, .least = 3, .most = 3};
  table["LayerNormalization"] = {.run = run_layer_normalization, .least = 2, .most = 3, .outputs = 3};
  table["GroupNormalization"] = {.run = run_group_normalization, .least = 3, .most = 3};
  table["MeanVarianceNormalization"] = {.run = run_mean_variance_normalization};
  table["LpNormalization"] = {.run = run_lp_normalization};
  table["LRN"] = {.run = run_lrn};
}

}  // namespace mezzo::detail
