#pragma once
#include <mezzo/backends/common/kernel.hpp>

namespace mezzo::reference {

/// Whether an update's gradient holds some rows of the variable only, whose places the last input tells.
inline bool has_compact_gradient(const KernelRequest& request) {
  return request.attributes.get_or<bool>("compact", false);
}

/// Elements of a row of the variable.
inline std::int64_t columns_of(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  return element_count(Shape(shape.begin() + 1, shape.end()));
}

/// What an update may write over: a compact gradient and its places have other elements at the same place.
inline std::vector<bool> overwritten_by_update(const KernelRequest& request) {
  std::vector<bool> inputs = like_output(request);
  if (has_compact_gradient(request)) inputs[1] = inputs.back() = false;
  return inputs;
}

}  // namespace mezzo::reference
