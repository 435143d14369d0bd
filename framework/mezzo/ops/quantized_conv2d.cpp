#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/quantized.hpp>
#include <mezzo/ops/quantized_conv2d.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_quantized_conv2d(const OpCall& call) {
  detail::require_float(call, 0);
  detail::require_codes(call, 1);
  const Attributes& attributes = call.attributes;
  const std::size_t operands = detail::QuantizedConv2DOperands(attributes).count;
  if (call.inputs.size() != operands) {
    fail<ValueError>(call.where, "takes {} operands in this form; got {}", operands, call.inputs.size());
  }
  const std::vector<Spec> floats{call.inputs[0], {call.inputs[1].shape, call.inputs[0].dtype}};
  std::vector<Spec> out = ops::conv2d.infer({floats, attributes, call.where});
  const Shape scales{call.inputs[1].shape.back()};
  if (call.inputs[2].shape != scales) {
    fail<ShapeError>(call.where, "scale must have shape {}; got shape {}", scales, call.inputs[2].shape);
  }
  return out;
}

/// The gradient of x, by the dequantized kernel: the codes of x have none of their own.
Values quantized_conv2d_gradient(const GradientContext& context) {
  Values out(context.input_count());
  if (!context.needs(0)) return out;
  const DType dtype = context.input(0).dtype();
  const Value kernel = insert_one(ops::dequantize, {context.input(1), context.input(2)},
                                  {{"bits", std::int64_t{8}},
                                   {"columns", context.input(1).shape().back()},
                                   {"axes", Shape{0, 1, 2}},
                                   {"block_size", std::int64_t{-1}},
                                   {"nf4", false},
                                   {"dtype", dtype}});
  const Attributes& all = context.attributes();
  Attributes attributes{{"shape", context.input(0).shape()}, {"dtype", context.dtype(0)}};
  for (const char* name : {"strides", "padding", "dilation"}) attributes.set(name, all.get<Shape>(name));
  attributes.set("groups", all.get<std::int64_t>("groups"));
  out[0] = insert_one(ops::conv2d_input_gradient, {detail::as(context.cotangent(), dtype), kernel}, attributes);
  return out;
}

}  // namespace

Op detail::define_quantized_conv2d() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::keep};
  op.cast.floats_only = false;
  op.infer = infer_quantized_conv2d;
  op.gradient = quantized_conv2d_gradient;
  return op;
}

}  // namespace mezzo
