#include <cmath>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_tensors.hpp>
#include <mezzo/ops/ops.hpp>

// Constants, arrays made of sizes, and identities.
namespace mezzo::detail {
namespace {

void put_constant(OnnxCall& call, const Value& value) {
  OnnxValue out;
  out.first = value;
  out.constant = true;
  call.put(out);
}

void run_constant(OnnxCall& call) {
  if (const auto tensor = call.tensor("value")) return put_constant(call, *tensor);
  if (call.has_attribute("value_float")) {
    return put_constant(call, Tensor::scalar(call.number("value_float", 0), DType::float32));
  }
  if (call.has_attribute("value_int"))
    return put_constant(call, int64_vector({call.integer("value_int", 0)}).reshape({}));
  if (call.has_attribute("value_ints")) return put_constant(call, int64_vector(call.integers("value_ints")));
  if (call.has_attribute("value_floats")) {
    const std::vector<double> numbers = call.numbers_of("value_floats");
    return put_constant(call, Tensor({static_cast<std::int64_t>(numbers.size())}, numbers).cast(DType::float32));
  }
  call.refuse("the value must be numbers; got another attribute");
}

void run_constant_of_shape(OnnxCall& call) {
  const Shape shape = call.ints(0, "shape");
  check_onnx_size(call, shape);
  const Tensor value = call.tensor("value").value_or(Tensor({1}, DType::float32));
  if (value.size() != 1) call.refuse("value must be one number; got {}", value);
  put_constant(call, broadcast_to(Value(value.reshape({})), shape));
}

void run_range(OnnxCall& call) {
  const Tensor start = call.numbers(0, "start"), limit = call.numbers(1, "limit"), delta = call.numbers(2, "delta");
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1) call.refuse("inputs must be single numbers");
  const double step = delta.item();
  const double count = std::max(std::ceil((limit.item() - start.item()) / step), 0.0);
  if (!(step != 0) || !(count <= 1 << 24))
    call.refuse("delta must reach limit; got delta {} and {} numbers", step, count);
  std::vector<double> numbers;
  for (double i = 0; i < count; ++i) numbers.push_back(start.item() + i * step);
  put_constant(call, Tensor({static_cast<std::int64_t>(count)}, numbers).cast(start.dtype()));
}

/// Shape of an input. Sizes are known in each call, so that shapes computed of them are numbers.
void run_shape(OnnxCall& call) {
  const Shape shape = call.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t begin = place(call.integer("start", 0)), end = place(call.integer("end", rank));
  const Shape part = begin < end ? Shape(shape.begin() + begin, shape.begin() + end) : Shape{};
  for (const auto size : part) {
    if (size < 0)
      call.refuse("sizes must be known; got shape {}: give the Inputs of the functional model all sizes", shape);
  }
  put_constant(call, int64_vector(part));
}

void run_size(OnnxCall& call) {
  const std::int64_t size = element_count(call.shape(0));
  if (size < 0) call.refuse("sizes must be known; got shape {}", call.shape(0));
  put_constant(call, int64_vector({size}).reshape({}));
}

void run_eye_like(OnnxCall& call) {
  const Shape shape = call.shape(0);
  if (shape.size() != 2) call.refuse("the input must be a matrix; got shape {}", shape);
  check_onnx_size(call, shape);
  const auto type = static_cast<std::int32_t>(call.integer("dtype", 0));
  const auto dtype = type == 0 ? call.dtype(0) : onnx_dtype(type);
  if (!dtype) call.refuse("mezzo has no dtype {}", onnx_dtype_name(type));
  put_constant(call, eye(shape[0], shape[1], call.integer("k", 0), *dtype));
}

void run_identity(OnnxCall& call) {
  OnnxValue out;
  if (call.has_last(0)) {
    out.last = call.in_last(0);
  } else {
    out.first = call.in(0);
  }
  out.constant = call.constant(0);
  call.put(out);
}

}  // namespace

void add_onnx_constants(OnnxOperators& table) {
  table["Constant"] = {.run = run_constant, .least = 0, .most = 0};
  table["ConstantOfShape"] = {.run = run_constant_of_shape};
  table["Range"] = {.run = run_range, .least = 3, .most = 3};
  table["Shape"] = {.run = run_shape};
  table["Size"] = {.run = run_size};
  table["EyeLike"] = {.run = run_eye_like};
  table["Identity"] = {.run = run_identity};
}

}  // namespace mezzo::detail
