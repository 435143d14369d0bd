#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_tensors.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/random.hpp>

// Random numbers. Seeds of files aren't used: mezzo draws other numbers anyway.
namespace mezzo::detail {
namespace {

DType drawn_dtype(OnnxCall& call, DType otherwise) {
  const auto type = static_cast<std::int32_t>(call.integer("dtype", 0));
  const auto dtype = type == 0 ? std::optional<DType>(otherwise) : onnx_dtype(type);
  if (!dtype) call.refuse("mezzo has no dtype {}", onnx_dtype_name(type));
  return *dtype;
}

/// Shape of an attribute, or that of input 0.
Shape drawn_shape(OnnxCall& call, bool like) {
  const Shape shape = like ? call.shape(0) : call.integers("shape");
  check_onnx_size(call, shape);
  return shape;
}

void run_normal(OnnxCall& call, bool like) {
  call.ignore("seed");
  const double mean = call.number("mean", 0), scale = call.number("scale", 1);
  const DType dtype = drawn_dtype(call, like ? call.dtype(0) : DType::float32);
  call.put(random::normal(drawn_shape(call, like), {.mean = mean, .stddev = scale, .dtype = dtype}));
}

void run_uniform(OnnxCall& call, bool like) {
  call.ignore("seed");
  const double low = call.number("low", 0), high = call.number("high", 1);
  const DType dtype = drawn_dtype(call, like ? call.dtype(0) : DType::float32);
  call.put(random::uniform(drawn_shape(call, like), {.minval = low, .maxval = high, .dtype = dtype}));
}

void run_bernoulli(OnnxCall& call) {
  call.ignore("seed");
  const DType dtype = drawn_dtype(call, call.dtype(0));
  call.put(random::bernoulli(call.shape(0), call.in(0), {.dtype = dtype}));
}

}  // namespace

void add_onnx_random(OnnxOperators& table) {
  table["RandomNormal"] = {
      .run = [](OnnxCall& call) { run_normal(call, false); }, .least = 0, .most = 0, .folds = false};
  table["RandomNormalLike"] = {.run = [](OnnxCall& call) { run_normal(call, true); }, .folds = false};
  table["RandomUniform"] = {
      .run = [](OnnxCall& call) { run_uniform(call, false); }, .least = 0, .most = 0, .folds = false};
  table["RandomUniformLike"] = {.run = [](OnnxCall& call) { run_uniform(call, true); }, .folds = false};
  table["Bernoulli"] = {.run = run_bernoulli, .folds = false};
}

}  // namespace mezzo::detail
