#pragma once
#include <functional>
#include <initializer_list>
#include <string>

#include <mezzo/core/size.hpp>
#include <mezzo/graph/op.hpp>
#include <mezzo/graph/value.hpp>

// Arguments that are sizes of the run: private, for ops that accept the Values of shape().
namespace mezzo::detail {

/// Result of compute(inputs, numbers of `sizes`). If one of the sizes comes from a functional graph, the function runs
/// in each call of the model, and the result is a symbol of the given spec. Throws an error that starts with `where`: a
/// DTypeError for sizes that aren't integers, a ValueError for a size that the step computes from data.
Value with_run_sizes(const std::string& where, const Values& inputs, const Values& sizes, Spec result,
                     std::function<Value(const Values& inputs, const Shape& sizes)> compute);

/// The numbers, with -1 for sizes that aren't known yet.
inline Shape numbers_of(std::initializer_list<Size> sizes) {
  Shape out;
  out.reserve(sizes.size());
  for (const Size& size : sizes) out.push_back(size.or_unknown());
  return out;
}

/// The numbers. Throws an error that starts with `where`, as with_run_sizes().
Shape numbers_of(const Values& sizes, const std::string& where);

/// The sizes, with -1 for those that are known only in the run. Errors as in numbers_of().
Shape known_part(const Values& sizes, const std::string& where);

/// x broadcast to `shape`, the shape to which x and `other` broadcast. In each call of a functional model, unknown
/// sizes are taken from x if it has the axis, else from `other`.
Value broadcast_beside(const Value& x, const Shape& shape, const Value& other);

}  // namespace mezzo::detail
