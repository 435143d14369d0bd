#include <mezzo/core/fail.hpp>
#include <mezzo/graph/codes.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/quantized.hpp>

namespace mezzo {
namespace {

std::int64_t number(const Attributes& attributes, const char* name) { return attributes.get<std::int64_t>(name); }

/// Shape of the codes (rows, columns), without their packing.
Shape matrix_of_codes(const OpCall& call) {
  const Shape& codes = call.inputs[1].shape;
  if (codes.size() != 2) fail<ShapeError>(call.where, "codes must have 2 axes; got shape {}", codes);
  const std::int64_t columns = number(call.attributes, "columns");
  const std::int64_t bytes = detail::bytes_of_codes(columns, number(call.attributes, "bits"));
  if (codes[1] != bytes) fail<ShapeError>(call.where, "codes must have {} in axis 1; got shape {}", bytes, codes);
  return {codes[0], columns};
}

std::vector<Spec> infer_quantized_matmul(const OpCall& call) {
  detail::require_float(call, 0);
  detail::require_codes(call, 1);
  const Attributes& attributes = call.attributes;
  const Shape matrix = matrix_of_codes(call);
  const bool transposed = attributes.get<bool>("transpose_b");
  const Shape& x = call.inputs[0].shape;
  const std::int64_t depth = matrix[transposed ? 1 : 0];
  if (x.empty() || (x.back() != depth && x.back() >= 0)) {
    fail<ShapeError>(call.where, "input axis -1 must be {} (rows of the weight); got shape {}", depth, x);
  }
  const Shape scales = detail::shape_of_scales(matrix, {transposed ? 1 : 0}, number(attributes, "block_size"));
  const bool zero = detail::has_zero(attributes), is_static = attributes.get<std::string>("activations") == "static";
  const std::size_t operands = 3 + (zero ? 1 : 0) + (is_static ? 1 : 0);
  if (call.inputs.size() != operands) {
    fail<ValueError>(call.where, "takes {} operands in this form; got {}", operands, call.inputs.size());
  }
  for (std::size_t i = 2; i < (zero ? 4U : 3U); ++i) {
    if (call.inputs[i].shape == scales) continue;
    fail<ShapeError>(call.where, "{} must have shape {}; got shape {}", i == 2 ? "scale" : "zero", scales,
                     call.inputs[i].shape);
  }
  Shape out = x;
  out.back() = matrix[transposed ? 0 : 1];
  return {{out, call.inputs[0].dtype}};
}

/// The gradient of x, by the dequantized weight: the codes of x have none of their own.
Values quantized_matmul_gradient(const GradientContext& context) {
  Values out(context.input_count());
  if (!context.needs(0)) return out;
  const Attributes& attributes = context.attributes();
  const bool transposed = attributes.get<bool>("transpose_b");
  const std::int64_t block = number(attributes, "block_size");
  Values codes{context.input(1), context.input(2)};
  if (detail::has_zero(attributes)) codes.push_back(context.input(3));
  const Value weight = insert_one(ops::dequantize, codes,
                                  {{"bits", number(attributes, "bits")},
                                   {"columns", number(attributes, "columns")},
                                   {"axes", Shape{transposed ? 1 : 0}},
                                   {"block_size", block},
                                   {"nf4", detail::is_nf4(attributes)},
                                   {"dtype", context.input(0).dtype()}});
  const Value g = detail::as(context.cotangent(), context.input(0).dtype());
  out[0] = detail::as(matmul(g, weight, {.transpose_b = !transposed}), context.dtype(0));
  return out;
}

}  // namespace

Op detail::define_quantized_matmul() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::keep};
  op.cast.floats_only = false;
  op.infer = infer_quantized_matmul;
  op.gradient = quantized_matmul_gradient;
  return op;
}

}  // namespace mezzo
