#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/codes.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/quantized.hpp>

namespace mezzo {
namespace {

void require_dtype(const OpCall& call, std::size_t i, const char* name, DType wanted) {
  const DType got = call.inputs[i].dtype;
  if (got != wanted) fail<DTypeError>(call.where, "{} must be {}; got {}", name, wanted, got);
}

void require_scale_shape(const OpCall& call, std::size_t i, const char* name, const Shape& wanted) {
  const Shape& got = call.inputs[i].shape;
  const bool fits = got.size() == wanted.size() && std::equal(got.begin(), got.end(), wanted.begin(),
                                                              [](auto a, auto b) { return a == b || a < 0 || b < 0; });
  if (!fits) fail<ShapeError>(call.where, "{} must have shape {}; got shape {}", name, wanted, got);
}

std::vector<Spec> infer_dequantize(const OpCall& call) {
  const Attributes& attributes = call.attributes;
  const auto bits = attributes.get<std::int64_t>("bits"), columns = attributes.get<std::int64_t>("columns");
  detail::require_codes(call, 0);
  Shape shape = call.inputs[0].shape;
  const std::int64_t bytes = detail::bytes_of_codes(columns, bits);
  if (shape.empty() || shape.back() != bytes) {
    fail<ShapeError>(call.where, "codes of {} bits must have {} in the last axis; got shape {}", bits, bytes, shape);
  }
  shape.back() = columns;
  const Shape scales =
      detail::shape_of_scales(shape, attributes.get<Shape>("axes"), attributes.get<std::int64_t>("block_size"));
  require_dtype(call, 1, "scale", DType::float32);
  require_scale_shape(call, 1, "scale", scales);
  if (call.inputs.size() > 2) {
    require_dtype(call, 2, "zero", DType::int8);
    require_scale_shape(call, 2, "zero", scales);
  }
  return {{attributes.get_or<Shape>("shape", shape), attributes.get<DType>("dtype")}};
}

}  // namespace

Op detail::define_dequantize() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_dequantize;
  return op;
}

void detail::require_codes(const OpCall& call, std::size_t i) {
  if (call.inputs[i].dtype != DType::int8) {
    fail<DTypeError>(call.where, "codes must be int8; got {}", call.inputs[i].dtype);
  }
}

bool detail::is_nf4(const Attributes& attributes) { return attributes.get_or<bool>("nf4", false); }

bool detail::has_zero(const Attributes& attributes) {
  return attributes.get<std::int64_t>("block_size") > 0 && !is_nf4(attributes);
}

}  // namespace mezzo
