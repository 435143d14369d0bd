#include <mezzo/graph/coded_state.hpp>

#include <algorithm>
#include <cstring>

namespace mezzo::detail {
namespace {

/// Calls body(block, first element, number of elements) for each block.
template <class Body>
void for_blocks(std::int64_t count, const Body& body) {
  for (std::int64_t i = 0; i < count; i += DynamicCode::block) {
    body(i / DynamicCode::block, i, std::min(DynamicCode::block, count - i));
  }
}

/// Gives a slot codes without values, with scales of 0.
void make_codes(VariableState& slot, const Shape& shape, DType code) {
  slot.value = Tensor::uninitialized(shape, code);
  slot.remainder = std::make_shared<VariableState>(slot.name + "/scales");
  slot.remainder->value = Tensor({DynamicCode::blocks_of(slot.value.size())}, DType::float32);
  slot.remainder->filled = true;
}

}  // namespace

Tensor decoded(const VariableState& slot) {
  const DynamicCode& code = DynamicCode::of(slot.value.dtype());
  const auto* codes = static_cast<const std::uint8_t*>(slot.value.raw());
  const float* scales = slot.remainder->value.data<float>();
  Tensor out = Tensor::uninitialized(slot.value.shape(), DType::float32);
  float* numbers = out.mutable_data<float>();
  for_blocks(out.size(), [&](std::int64_t block, std::int64_t i, std::int64_t count) {
    code.decode(codes + i, scales[block], numbers + i, count);
  });
  return out;
}

void set_codes(VariableState& slot, const Tensor& numbers) {
  const DynamicCode& code = DynamicCode::of(slot.value.dtype());
  auto* codes = static_cast<std::uint8_t*>(slot.value.mutable_raw());
  float* scales = slot.remainder->value.mutable_data<float>();
  const float* x = numbers.data<float>();
  for_blocks(numbers.size(), [&](std::int64_t block, std::int64_t i, std::int64_t count) {
    scales[block] = code.encode(x + i, count, codes + i);
  });
  ++slot.remainder->version;
}

void encode(VariableState& slot, DType code) {
  const Tensor numbers = slot.numbers().cast(DType::float32);
  make_codes(slot, numbers.shape(), code);
  set_codes(slot, numbers);
  ++slot.version;
}

void encode_zeros(VariableState& slot, const Shape& shape, DType code) {
  make_codes(slot, shape, code);
  if (slot.value.size() > 0) std::memset(slot.value.mutable_raw(), DynamicCode::of(code).zero, slot.value.bytes());
  slot.filled = true;
  ++slot.version;
}

}  // namespace mezzo::detail
