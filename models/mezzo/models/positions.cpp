#include <mezzo/models/positions.hpp>

#include <numeric>

#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {

Value position_ids(std::int64_t begin, std::int64_t count) {
  Tensor ids({count}, DType::int32);
  auto* numbers = ids.mutable_data<std::int32_t>();
  std::iota(numbers, numbers + count, static_cast<std::int32_t>(begin));
  return ids;
}

Value at_position(const Value& states, std::int64_t position) {
  const Shape& shape = states.shape();
  return reshape(slice(states, {{0, position, 0}, {-1, 1, -1}}), {shape[0], shape[2]});
}

}  // namespace mezzo::detail
