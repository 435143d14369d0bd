#pragma once
#include <string>

#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {

/// function(function(a, b), c) and so on; a ValueError for fewer than two inputs.
inline Value merge(const std::string& where, const Values& xs, Value (*function)(const Value&, const Value&)) {
  if (xs.size() < 2) throw ValueError(where + " takes at least two inputs; got " + std::to_string(xs.size()));
  Value merged = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) merged = function(merged, xs[i]);
  return merged;
}

}  // namespace mezzo::detail
