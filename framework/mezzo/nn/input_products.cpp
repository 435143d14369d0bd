#include <mezzo/nn/input_products.hpp>

#include <cmath>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

/// The part of a thread's ExecutionContext.
struct InputProductsContext {
  ProductsOfKernels* running = nullptr;
};

ProductsOfKernels*& running_sums() { return ExecutionContext::current().part<InputProductsContext>().running; }

void require_finite_inputs(const Tensor& x, const std::string& kernel) {
  const auto* const numbers = x.data<float>();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(numbers[i])) continue;
    fail<ValueError>("[quantize_gptq]", "inputs of {} must be finite; got {}", kernel, numbers[i]);
  }
}

}  // namespace

void add_input_products(ProductsOfKernels& sums, const std::function<void()>& run) {
  const ScopedValue<ProductsOfKernels*> scope(running_sums(), &sums);
  run();
}

bool adds_input_products(const VariableState& kernel) {
  return running_sums() != nullptr && running_sums()->count(&kernel) > 0;
}

void note_product(const Value& x, const VariableState& kernel) {
  if (!adds_input_products(kernel) || x.symbolic()) return;
  const std::int64_t inputs = x.shape().back();
  const Tensor numbers = x.tensor().cast(DType::float32);
  require_finite_inputs(numbers, kernel.name);
  if (numbers.size() == 0) return;
  const LibraryScope in_float32;
  const Value rows(numbers.reshape({numbers.size() / inputs, inputs}));
  const Tensor product = matmul(rows, rows, {.transpose_a = true}).tensor().cast(DType::float64);
  InputProducts& of = running_sums()->at(&kernel);
  if (of.rows == 0) of.sum = Tensor({inputs, inputs}, DType::float64);
  of.rows += rows.shape()[0];
  const auto* const from = product.data<double>();
  auto* const to = of.sum.mutable_data<double>();
  for (std::int64_t i = 0; i < product.size(); ++i) to[i] += from[i];
}

}  // namespace mezzo::detail
