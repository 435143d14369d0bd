#include <algorithm>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Matrix products.
namespace mezzo::detail {
namespace {

/// Products of integers are rounded back to their dtype.
Value product(const Value& a, const Value& b, const MatmulOptions& options = {}) {
  if (is_floating(a.dtype()) || is_floating(b.dtype())) return matmul(a, b, options);
  return cast(matmul(cast(a, DType::float64), cast(b, DType::float64), options), a.dtype());
}

void run_gemm(OnnxCall& call) {
  call.ignore("broadcast");  // of opset 6: C always broadcasts
  const double alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  const MatmulOptions options{.transpose_a = call.integer("transA", 0) != 0,
                              .transpose_b = call.integer("transB", 0) != 0};
  if (call.rank(0) != 2 || call.rank(1) != 2) {
    call.refuse("A and B must be matrices; got shapes {} and {}", call.shape(0), call.shape(1));
  }
  Value y = product(call.in(0), call.in(1), options);
  if (alpha != 1) y = y * alpha;
  if (call.has(2) && beta != 0) {
    const Value c = beta == 1 ? call.in(2) : call.in(2) * beta;
    y = call.rank(2) == 1 && beta == 1 && is_floating(y.dtype()) ? bias_add(y, c) : y + c;
  }
  call.put(y);
}

void run_einsum(OnnxCall& call) {
  std::string equation = call.text("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  Values xs;
  for (std::size_t i = 0; i < call.input_count(); ++i) xs.push_back(call.in(i));
  call.put(einsum(equation, xs));
}

}  // namespace

void add_onnx_products(OnnxOperators& table) {
  table["MatMul"] = {.run = [](OnnxCall& call) { call.put(product(call.in(0), call.in(1))); }, .least = 2, .most = 2};
  table["Gemm"] = {.run = run_gemm, .least = 2, .most = 3};
  table["Einsum"] = {.run = run_einsum, .least = 1, .most = OnnxOperator::any};
  table["Det"] = {.run = [](OnnxCall& call) { call.put(det(call.in(0))); }};
}

}  // namespace mezzo::detail
