#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Numbers that files hold as small integers.
namespace mezzo::detail {
namespace {

/// (x - zero point) scale, with numbers for the whole array or for each element of an axis.
void run_dequantize(OnnxCall& call) {
  if (call.integer("block_size", 0) != 0) call.refuse("blocks aren't supported");
  const std::size_t rank = call.rank(0);
  const bool single = call.rank(1) == 0 || (call.rank(1) == 1 && call.shape(1)[0] == 1);
  const std::int64_t axis = single ? 0 : call.axis("axis", 1, rank);
  call.ignore("axis");
  if (!single && (call.rank(1) != 1 || call.shape(1)[0] != call.shape(0)[static_cast<std::size_t>(axis)])) {
    call.refuse("scales must be one, or one for each element of axis {}; got shape {}", axis, call.shape(1));
  }
  Shape along(single ? 0 : rank, 1);
  if (!single) along[static_cast<std::size_t>(axis)] = call.shape(1)[0];
  const Value scale = reshape(call.in(1), along);
  Value x = cast(call.in(0), DType::float32);
  if (call.has(2)) x = x - reshape(cast(call.in(2), DType::float32), along);
  call.put(x * scale);
}

}  // namespace

void add_onnx_quantization(OnnxOperators& table) {
  table["DequantizeLinear"] = {.run = run_dequantize, .least = 2, .most = 3};
}

}  // namespace mezzo::detail
