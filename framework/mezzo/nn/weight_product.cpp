#include <mezzo/nn/weight_product.hpp>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/replaced_variable.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/fake_product.hpp>
#include <mezzo/nn/float8_product.hpp>
#include <mezzo/nn/input_products.hpp>
#include <mezzo/nn/quantized_product.hpp>
#include <mezzo/nn/tied_product.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/table_product.hpp>

namespace mezzo {
namespace {

/// True if products read the weight's codes. What a layer around has put in its place is floating.
bool has_codes(const Variable& weight) {
  return weight.quantized() && !ReplacedVariable::find(*weight.state()).defined();
}

/// Outputs of a kernel whose first axes have `in` inputs, which may be none.
std::int64_t kernel_outputs(const Shape& kernel, std::int64_t in) {
  auto axis = kernel.begin();
  for (std::int64_t inputs = 1; axis != kernel.end() && inputs != in; ++axis) inputs *= *axis;
  return element_count(Shape(axis, kernel.end()));
}

Value product_with(const Value& x, const Variable& kernel) {
  if (has_codes(kernel)) return detail::quantized_product(x, kernel);
  detail::note_product(x, *kernel.state());
  if (detail::has_float8_products(kernel)) {
    return detail::float8_product(x, kernel, *kernel.state(), [](const Value& rows, const Value& columns) {
      const std::int64_t in = rows.shape().back();
      return matmul(rows, reshape(columns, {in, kernel_outputs(columns.shape(), in)}));
    });
  }
  const Value inputs = detail::rounded_inputs(x, kernel);
  if (kernel.shape().size() == 2) return detail::matmul_of_kernel(inputs, kernel);
  const std::int64_t in = x.shape().back();
  return detail::matmul_of_kernel(inputs, reshape(kernel, {in, kernel_outputs(kernel.shape(), in)}));
}

Value product(const Value& x, const Variable& kernel) {
  const Value y = product_with(x, detail::kernel_in_use(kernel));
  const detail::Adapter* const adapter = detail::adapter_in_use(kernel);
  return adapter == nullptr ? y : y + detail::adapted_product(x, *adapter);
}

/// The product with a transposed table, in the format of the policy in force.
Value transposed_product(const Value& x, const Variable& table) {
  if (has_codes(table)) return detail::quantized_product(x, table);
  return detail::matmul_of_table(detail::rounded_inputs(x, table), table);
}

/// The same in the compute dtype.
Value wide_transposed_product(const Value& x, const Variable& table) {
  if (has_codes(table)) return detail::quantized_product(x, table);
  return matmul(detail::rounded_inputs(x, table), table, {.transpose_b = true});
}

Value reverse_product(const Value& x, const Variable& own) {
  const Value y = transposed_product(x, detail::kernel_in_use(own));
  const detail::Adapter* const adapter = detail::adapter_in_use(own);
  return adapter == nullptr ? y : y + detail::adapted_reverse(x, *adapter);
}

Value rows(const Value& indices, const Variable& own) {
  const Variable table = detail::kernel_in_use(own);
  const Value y = has_codes(table)      ? detail::quantized_rows(indices, table)
                  : table.state()->fake ? detail::rounded_table_rows(indices, table)
                                        : gather(table, indices);
  const detail::Adapter* const adapter = detail::adapter_in_use(own);
  return adapter == nullptr ? y : y + detail::adapted_rows(indices, *adapter);
}

/// function(x, weight), in a functional graph at each call of its model. A weight that a layer around has replaced is
/// read at once.
Value later(Value (*function)(const Value&, const Variable&), const Value& x, const Variable& weight,
            const Shape& shape) {
  if (ReplacedVariable::find(*weight.state()).defined()) return function(x, weight);
  const auto run = [function, weight](const Values& xs) -> Values { return {function(xs[0], weight)}; };
  return detail::defer(run, {x}, {{shape, detail::current_policy().compute_dtype()}}).front();
}

Shape with_last(const Value& x, std::int64_t size) {
  Shape shape = x.shape();
  shape.back() = size;
  return shape;
}

}  // namespace

Value detail::weight_product(const Value& x, const Variable& kernel) {
  const std::int64_t in = x.shape().back();
  return later(product, x, kernel, with_last(x, kernel_outputs(kernel.shape(), in)));
}

Value detail::table_product(const Value& x, const Variable& table) {
  return later(reverse_product, x, table, with_last(x, table.shape()[0]));
}

Value detail::tied_product(const Value& x, const Variable& table) {
  return later(wide_transposed_product, x, table, with_last(x, table.shape()[0]));
}

Value detail::tied_product(const Value& x, const Variable& table, const Policy& of_table) {
  const bool wide = of_table.products() == ProductFormat::same;
  return later(wide ? wide_transposed_product : transposed_product, x, table, with_last(x, table.shape()[0]));
}

Value detail::table_rows(const Value& indices, const Variable& table) {
  Shape shape = indices.shape();
  shape.push_back(table.shape()[1]);
  return later(rows, indices, table, shape);
}

}  // namespace mezzo
