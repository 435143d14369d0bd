#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Result of one iteration of scan: the carry for the next one, and the elements added to the outputs. Result of scan:
/// the last carry, and the outputs of all iterations, (length, ...) each.
struct ScanResult {
  Values carry{};    ///< arrays of the same shapes and dtypes in all iterations
  Values outputs{};  ///< of one iteration (...), of scan (length, ...)
};

namespace detail {
/// One iteration of scan. `xs`: the elements of its arrays at that place, without the first axis.
using ScanFunction = std::function<ScanResult(const Values& carry, const Values& xs)>;
}  // namespace detail

/// Options of scan.
struct ScanOptions {
  std::optional<std::int64_t> length{};  ///< number of iterations; default: first axis of the arrays
  bool reverse = false;                  ///< true: starts at the last elements; outputs keep their places
};

/// Calls the function for each element along the first axis of `xs`, as keras.ops.scan: carry, y = f(carry, x). The
/// function is traced once and runs as one op for any length. Gradients pass to `init`, `xs`, and to the variables and
/// other Values that the function uses; the backward pass computes each iteration again. Random draws differ from
/// iteration to iteration. A carry keeps its shape; its dtype becomes that of f's carry, if that is wider.
///
/// Throws a ShapeError if the arrays differ in length, or if the function changes the shape of a carry; a DTypeError if
/// it changes the dtype of one that is not floating; a ValueError if it returns another number of carries, updates a
/// variable or adds a loss, and without arrays and length.
///
///     const ScanResult sums = scan([](const Values& carry, const Values& x) {
///       const Value sum = carry[0] + x[0];
///       return ScanResult{{sum}, {sum}};
///     }, {Tensor({3})}, {x});  // x: (length, 3)
MEZZO_API ScanResult scan(const detail::ScanFunction& function, const Values& init, const Values& xs,
                          const ScanOptions& options = {});

}  // namespace mezzo
