#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::reference {

/// Two walks over the input: along the kept axes (the outputs, in order) and along the reduced axes.
struct Reduction {
  Walk kept, reduced;

  /// True if a row of the walk along the reduced axes holds neighbours. The last axis of a dense array is either
  /// reduced or kept, so one of the two walks visits neighbours.
  bool lines() const { return reduced.step(0) == 1 && reduced.size() != 1; }
};

inline Reduction reduction(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const auto& axes = request.attributes.get<Shape>("axes");
  const Shape own = detail::row_major_strides(shape);
  Shape kept, kept_strides, reduced, reduced_strides;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
    (is_reduced ? reduced : kept).push_back(shape[axis]);
    (is_reduced ? reduced_strides : kept_strides).push_back(own[axis]);
  }
  return {Walk(kept, {kept_strides}), Walk(reduced, {reduced_strides})};
}

}  // namespace mezzo::reference
