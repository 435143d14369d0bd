#include <mezzo/graph/scope.hpp>
#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_tensors.hpp>
#include <mezzo/ops/ops.hpp>

// Activations, conversions and dropout.
namespace mezzo::detail {
namespace {

/// An activation without attributes.
OnnxOperator plain(Value (*f)(const Value&)) {
  return {.run = [f](OnnxCall& call) { call.elementwise([f](const Values& xs) { return f(xs[0]); }); }};
}

/// An activation with a number as attribute.
OnnxOperator with_number(const char* name, double otherwise, Value (*f)(const Value&, double)) {
  return {.run = [=](OnnxCall& call) {
    const double number = call.number(name, otherwise);
    call.elementwise([&](const Values& xs) { return f(xs[0], number); });
  }};
}

void run_relu(OnnxCall& call) {
  call.elementwise([](const Values& xs) { return is_floating(xs[0].dtype()) ? relu(xs[0]) : maximum(xs[0], 0); });
}

void run_selu(OnnxCall& call) {
  const double alpha = call.number("alpha", 1.67326319217681884765625);
  const double gamma = call.number("gamma", 1.05070102214813232421875);
  call.elementwise([&](const Values& xs) { return gamma * elu(xs[0], alpha); });
}

void run_hard_sigmoid(OnnxCall& call) {
  const double alpha = call.number("alpha", 0.2), beta = call.number("beta", 0.5);
  call.elementwise([&](const Values& xs) { return clip(alpha * xs[0] + beta, 0, 1); });
}

void run_shrink(OnnxCall& call) {
  const double lambda = call.number("lambd", 0.5), bias = call.number("bias", 0);
  call.elementwise([&](const Values& xs) {
    const Value& x = xs[0];
    return where(x < -lambda, x + bias, where(x > lambda, x - bias, zeros_like(x)));
  });
}

void run_gelu(OnnxCall& call) {
  const std::string kind = call.text("approximate", "none");
  if (kind != "none" && kind != "tanh") call.refuse("approximate must be \"none\" or \"tanh\"; got \"{}\"", kind);
  call.elementwise([&](const Values& xs) { return gelu(xs[0], kind == "tanh"); });
}

/// Before opset 7, the slope has one number for each channel.
void run_prelu(OnnxCall& call) {
  if (call.opset() < 7 && call.rank(1) == 1 && call.rank(0) > 2) {
    const Value x = call.in_last(0);
    return call.put_last(where(x < 0, x * call.in(1), x));
  }
  call.elementwise([](const Values& xs) { return where(xs[0] < 0, xs[0] * xs[1], xs[0]); });
}

/// Limits of Clip are attributes before opset 11.
void run_clip(OnnxCall& call) {
  if (call.opset() < 11) {
    const bool low = call.has_attribute("min"), high = call.has_attribute("max");
    const double least = call.number("min", 0), most = call.number("max", 0);
    return call.elementwise([&](const Values& xs) {
      Value x = xs[0];
      if (low && high && least == 0 && most == 6) return relu6(x);
      if (low) x = maximum(x, least);
      return high ? minimum(x, most) : x;
    });
  }
  const bool fixed = (!call.has(1) || call.constant(1)) && (!call.has(2) || call.constant(2));
  const auto limit = [&](std::size_t i) { return call.in_number(i); };
  const auto clipped = [&](const Value& from) {
    if (fixed && call.has(1) && call.has(2) && is_floating(from.dtype()) && limit(1).weak() && limit(2).weak() &&
        limit(1).item() == 0 && limit(2).item() == 6) {
      return relu6(from);
    }
    const Value x = call.has(1) ? maximum(from, limit(1)) : from;
    return call.has(2) ? minimum(x, limit(2)) : x;
  };
  if (call.has_last(0)) return call.put_last(clipped(call.in_last(0)));
  call.put(clipped(call.in(0)));
}

/// Softmax and the like along one axis; before opset 13 along all axes from `axis` on.
template <class F>
void along_axis(OnnxCall& call, const F& f) {
  const Shape shape = call.shape(0);
  const bool joined = call.opset() < 13;
  const std::int64_t axis = call.axis("axis", joined ? 1 : -1, shape.size());
  const auto at = static_cast<std::size_t>(axis);
  if (!joined || at + 1 == shape.size()) {
    if (!call.has_last(0)) return call.put(f(call.in(0), axis));
    return call.put_last(f(call.in_last(0), axis_with_channels_last(axis, shape.size())));
  }
  const std::int64_t behind = product_of(shape, at, shape.size());
  call.put(reshape(f(reshape(call.in(0), {product_of(shape, 0, at), behind}), std::int64_t{1}), shape));
}

void run_hardmax(OnnxCall& call) {
  along_axis(call, [](const Value& x, std::int64_t axis) {
    return one_hot(argmax(x, axis), x.shape()[static_cast<std::size_t>(axis)], axis, x.dtype());
  });
}

/// Conversion to a dtype. Integers that become the floats of the file become those that the policy computes in.
Value converted(const OnnxCall& call, const Value& x, DType to) {
  if (x.dtype() == to) return x;
  if (to == DType::boolean) return not_equal(x, 0);
  if (to == DType::float32 && !call.constant(0)) {
    const DType compute = current_policy().compute_dtype();
    return x.dtype() == compute ? x : cast(x, compute == DType::float64 ? to : compute);
  }
  return cast(x, to);
}

void put_converted(OnnxCall& call, DType to) {
  if (call.has_last(0)) return call.put_last(converted(call, call.in_last(0), to));
  call.put(converted(call, call.in(0), to));
}

void run_cast(OnnxCall& call) {
  call.ignore("saturate");
  const auto type = static_cast<std::int32_t>(call.integer("to", 0));
  const auto to = onnx_dtype(type);
  if (!to) call.refuse("mezzo has no dtype {}", onnx_dtype_name(type));
  put_converted(call, *to);
}

void run_cast_like(OnnxCall& call) {
  call.ignore("saturate");
  put_converted(call, call.dtype(1));
}

/// Dropout follows the mode of the run. The mask of a training isn't returned.
void run_dropout(OnnxCall& call) {
  call.ignore("seed");
  call.ignore("is_test");  // of opset 6
  const double rate = call.opset() < 12 ? call.number("ratio", 0.5) : call.has(1) ? call.one_number(1, "ratio") : 0.5;
  const bool trained = call.has(2) && call.one_number(2, "training_mode") != 0;
  if (call.wants(1)) {
    if (trained && rate != 0) call.refuse("output 1 (mask) isn't supported in training");
    call.put(ones_like(call.in(0), DType::boolean), 1);
    return call.put(call.in(0));
  }
  if (call.has_last(0)) return call.put_last(dropout(call.in_last(0), rate));
  call.put(dropout(call.in(0), rate));
}

}  // namespace

void add_onnx_activations(OnnxOperators& table) {
  table["Relu"] = {.run = run_relu};
  table["Sigmoid"] = plain([](const Value& x) { return sigmoid(x); });
  table["Tanh"] = plain([](const Value& x) { return mezzo::tanh(x); });
  table["Softplus"] = plain([](const Value& x) { return softplus(x); });
  table["Softsign"] = plain([](const Value& x) { return softsign(x); });
  table["HardSwish"] = plain([](const Value& x) { return hard_silu(x); });
  table["Mish"] = plain([](const Value& x) { return mish(x); });
  table["Elu"] = with_number("alpha", 1, [](const Value& x, double alpha) { return elu(x, alpha); });
  table["Celu"] = with_number("alpha", 1, [](const Value& x, double alpha) { return celu(x, alpha); });
  table["LeakyRelu"] = with_number("alpha", 0.01, [](const Value& x, double alpha) { return leaky_relu(x, alpha); });
  table["ThresholdedRelu"] =
      with_number("alpha", 1, [](const Value& x, double alpha) { return threshold(x, alpha, 0); });
  table["Selu"] = {.run = run_selu};
  table["HardSigmoid"] = {.run = run_hard_sigmoid};
  table["Shrink"] = {.run = run_shrink};
  table["Gelu"] = {.run = run_gelu};
  table["PRelu"] = {.run = run_prelu, .least = 2, .most = 2};
  table["Clip"] = {.run = run_clip, .least = 1, .most = 3};
  table["Softmax"] = {.run = [](OnnxCall& call) {
    along_axis(call, [](const Value& x, std::int64_t axis) { return softmax(x, axis); });
  }};
  table["LogSoftmax"] = {.run = [](OnnxCall& call) {
    along_axis(call, [](const Value& x, std::int64_t axis) { return log_softmax(x, axis); });
  }};
  table["Hardmax"] = {.run = run_hardmax};
  table["Cast"] = {.run = run_cast};
  table["CastLike"] = {.run = run_cast_like, .least = 2, .most = 2};
  table["Dropout"] = {.run = run_dropout, .least = 1, .most = 3, .outputs = 2, .folds = false};
}

}  // namespace mezzo::detail
