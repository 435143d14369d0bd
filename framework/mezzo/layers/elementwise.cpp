#include <mezzo/core/fail.hpp>
#include <mezzo/layers/add.hpp>
#include <mezzo/layers/dropout.hpp>
#include <mezzo/layers/multiply.hpp>
#include <mezzo/layers/rescaling.hpp>

// Elementwise layers: Add and Multiply of several inputs, then layers of one input.
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

Dropout::Dropout(DropoutOptions options) : Layer("Dropout", options), options_(std::move(options)) {
  if (!(options_.rate >= 0 && options_.rate < 1)) {
    fail<ValueError>(label(), "rate must lie in [0, 1); got {}", options_.rate);
  }
}

Value Rescaling::call(const Value& x) {
  const Value scaled = x * options_.scale;
  return options_.offset == 0 ? scaled : scaled + options_.offset;
}

}  // namespace mezzo
