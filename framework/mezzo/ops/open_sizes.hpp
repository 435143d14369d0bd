#pragma once
#include <cstdint>
#include <functional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Result of compute(inputs), for results that depend on sizes. If an axis behind the batch has no known size, as in
/// functional graphs of `Input({-1, 64})`, the function runs each time the model is called, with the sizes of the call.
/// For layers of your own that compute with `x.shape()`:
///
///     Value call(const Value& x) override {
///       return with_sizes([](const Value& y) { return slice(y, {0, y.shape()[1] / 2, 0}, {-1, 1, -1}); }, x);
///     }
///
/// The shapes of the symbols come from two trials of the function on symbols: in the first one each open size is
/// `least`, rounded up to a multiple of 720, in the second one twice that. A size of a result is open if the trials
/// differ in it. The function may run several times; it holds copies of its values.
MEZZO_API Values with_sizes(const std::function<Values(const Values&)>& compute, const Values& inputs,
                            std::int64_t least = 1);

/// The same for a function of one Value.
MEZZO_API Value with_sizes(const std::function<Value(const Value&)>& compute, const Value& x, std::int64_t least = 1);

namespace detail {

/// True if an axis behind the batch has no known size.
bool has_open_size(const Value& x);

}  // namespace detail
}  // namespace mezzo
