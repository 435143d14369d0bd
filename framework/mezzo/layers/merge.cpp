#include <mezzo/core/fail.hpp>
#include <mezzo/layers/add.hpp>
#include <mezzo/layers/multiply.hpp>

// Layers that combine two or more inputs elementwise.
namespace mezzo {
namespace {

/// function(function(a, b), c) and so on.
Value merge(const std::string& where, const Values& xs, Value (*function)(const Value&, const Value&)) {
  if (xs.size() < 2) fail<ValueError>(where, "takes at least two inputs; got {}", xs.size());
  Value merged = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) merged = function(merged, xs[i]);
  return merged;
}

}  // namespace

Values Add::call_many(const Values& xs) { return {merge(label(), xs, add)}; }
Values Multiply::call_many(const Values& xs) { return {merge(label(), xs, multiply)}; }

}  // namespace mezzo
