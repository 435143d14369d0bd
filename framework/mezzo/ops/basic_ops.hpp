#pragma once
#include <initializer_list>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/size.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>

// The ops that others are made of: arithmetic, functions of one operand, movement, normalization. ops.hpp includes all
// ops.

namespace mezzo {

/// @name Elementwise, with numpy's broadcasting
/// Operands of different dtypes are promoted to the widest; C++ numbers take the dtype of the other operand. Shapes
/// that don't broadcast are a ShapeError.
/// @{
MEZZO_API Value add(const Value& a, const Value& b);
MEZZO_API Value subtract(const Value& a, const Value& b);
MEZZO_API Value multiply(const Value& a, const Value& b);
/// Integers are divided as floats of the scope's compute dtype.
MEZZO_API Value divide(const Value& a, const Value& b);
/// a == b, of dtype bool; not differentiable.
MEZZO_API Value equal(const Value& a, const Value& b);
/// Element by element, as in NumPy: the result is a bool Value. It converts to no bool, so `if (a == b)` and std::find
/// in a vector of Values don't compile.
inline Value operator==(const Value& a, const Value& b) { return equal(a, b); }

inline Value operator+(const Value& a, const Value& b) { return add(a, b); }
inline Value operator-(const Value& a, const Value& b) { return subtract(a, b); }
inline Value operator*(const Value& a, const Value& b) { return multiply(a, b); }
inline Value operator/(const Value& a, const Value& b) { return divide(a, b); }

/// Assignment operators: a = a + b and so on. Op lists can name them: "iadd", "isub", "imul" and "itruediv". If no list
/// names them, b takes a's dtype.
MEZZO_API Value& operator+=(Value& a, const Value& b);
MEZZO_API Value& operator-=(Value& a, const Value& b);
MEZZO_API Value& operator*=(Value& a, const Value& b);
MEZZO_API Value& operator/=(Value& a, const Value& b);

/// x + bias, with broadcasting. Under op lists that don't name "bias_add", bias takes x's dtype, as in torch's linear.
MEZZO_API Value bias_add(const Value& x, const Value& bias);
/// @}

/// @name Elementwise, of one operand
/// Each takes and returns a Value of any shape. Integers stay integers in abs, negative and sign; elsewhere they become
/// floats of the scope's compute dtype. Declared by their rows in ops.def.
/// @{
#define MEZZO_OP(...)
#define MEZZO_UNARY_OP(name, ...) MEZZO_API Value name(const Value& x);
#define MEZZO_ALIAS_OP(...)
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

/// Gaussian error linear unit (Hendrycks and Gimpel, 2016): x (1 + erf(x / sqrt(2))) / 2, or, if `approximate`,
/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
MEZZO_API Value gelu(const Value& x, bool approximate);
inline Value gelu(const Value& x) { return gelu(x, false); }
inline Value operator-(const Value& x) { return negative(x); }
/// @}

/// The same elements in another dtype. Differentiable between floating dtypes.
MEZZO_API Value cast(const Value& x, DType dtype);

/// The same elements in another shape. One size may be -1 and is computed from the others. Throws a ShapeError if the
/// number of elements differs.
MEZZO_API Value reshape(const Value& x, const Shape& shape);
/// The same. A size that isn't known yet counts as -1.
MEZZO_API Value reshape(const Value& x, std::initializer_list<Size> shape);
/// The same, with sizes that may come from shape().
MEZZO_API Value reshape(const Value& x, const Values& shape);

/// Axis i of the result is axis permutation[i] of x; {} reverses the axes.
MEZZO_API Value transpose(const Value& x, const Shape& permutation = {});

/// x broadcast to `shape` by numpy's rules. A size of -1 is that of x's axis, which aligns with it.
MEZZO_API Value broadcast_to(const Value& x, const Shape& shape);
/// The same. A size that isn't known yet counts as -1.
MEZZO_API Value broadcast_to(const Value& x, std::initializer_list<Size> shape);
/// The same, with sizes that may come from shape().
MEZZO_API Value broadcast_to(const Value& x, const Values& shape);

/// Rows of `table` (V, ...) selected by `indices` (integers of any shape). The result has shape indices.shape +
/// table.shape[1:] and the table's dtype, or the scope's compute dtype if the table is a variable: the rows are cast,
/// never the whole table. An index outside [0, V) is a ValueError when the step runs, and nothing is updated.
MEZZO_API Value gather(const Value& table, const Value& indices);

/// Concatenates values along `axis`. Different dtypes are promoted to the widest. Throws a ShapeError unless all other
/// sizes are equal.
MEZZO_API Value concat(const Values& values, std::int64_t axis = -1);

/// Options of slice: one number for each axis.
struct SliceOptions {
  Shape starts{};  ///< index of the first element
  Shape sizes{};   ///< number of elements; -1: up to the end
};

/// A box of x. Throws a ShapeError unless each axis has a start and a size and the box lies inside x.
MEZZO_API Value slice(const Value& x, const SliceOptions& options);

/// Splits x along `axis`: into a number of equal pieces, `split(x, 3)`, or into pieces of the given sizes,
/// `split(x, {2, 5})`. Throws a ShapeError unless the sizes add up to the size of the axis.
MEZZO_API Values split(const Value& x, const detail::Ints& sections, std::int64_t axis = -1);

/// Options of pad: one number for each axis.
struct PadOptions {
  Shape before{};  ///< elements in front of x
  Shape after{};   ///< elements behind x
  /// Elements that are added: "constant"; "edge": the first and the last one again; "reflect": those of x backwards
  /// from its first and last, without these; "symmetric": with these; "wrap": those of the other end.
  std::string mode = "constant";
  double constant_values = 0;  ///< the element of mode "constant"; for the others an error unless 0
};

/// x with elements around it. Throws a ShapeError unless each axis has both numbers, a ValueError for negative ones, a
/// NameError for another mode.
MEZZO_API Value pad(const Value& x, const PadOptions& options);

/// Selects a where the condition (bool) is true, else b. All three broadcast by numpy's rules. a and b are promoted to
/// the wider dtype; the gradient of an element that isn't selected is 0.
MEZZO_API Value where(const Value& condition, const Value& a, const Value& b);

/// Options of batch_norm.
struct BatchNormOpOptions {
  double epsilon = 1e-3;      ///< added to the variance
  double momentum = 0.99;     ///< weight of the old moving statistics
  bool synchronized = false;  ///< true: in a training of several ranks, the batch is that of all ranks
};

/// Result of batch_norm. The moving statistics are meant for update_variable; outside training they are unchanged.
struct BatchNormResult {
  Value y;                ///< normalized x
  Value moving_mean;      ///< moving mean after this batch
  Value moving_variance;  ///< moving variance after this batch
};

/// Normalizes over all axes except the last (Ioffe and Szegedy, 2015). In training, if all enclosing layers are
/// trainable, uses the mean and biased variance of the batch, otherwise the moving statistics. x is (..., C); the other
/// operands are (C,). The statistics are computed in float32 (float64 for float64), the dtype of the other operands.
MEZZO_API BatchNormResult batch_norm(const Value& x, const Value& gamma, const Value& beta, const Value& moving_mean,
                                     const Value& moving_variance, const BatchNormOpOptions& options = {});

/// exp(x) divided by its sum along `axis`, computed in float32 (float64 for float64). Throws a ShapeError for an axis
/// that x doesn't have.
MEZZO_API Value softmax(const Value& x, std::int64_t axis);
inline Value softmax(const Value& x) { return softmax(x, -1); }

/// gamma (x - mean) / sqrt(variance + epsilon) + beta (Ba et al., 2016). Mean and biased variance are taken over the
/// last axes of x; gamma and beta have the shape of these axes. The statistics are computed in float32 (float64 for
/// float64), the dtype of gamma and beta. Throws a ShapeError if the shapes differ.
MEZZO_API Value layer_norm(const Value& x, const Value& gamma, const Value& beta, double epsilon = 1e-3);

/// In training, sets each element to 0 with probability `rate` and divides the others by 1 - rate (Srivastava et
/// al., 2014); otherwise returns x. The dropped elements depend on seed, step, layer path and call, not on threads.
/// Throws a ValueError for a rate outside [0, 1).
MEZZO_API Value dropout(const Value& x, double rate);

/// Negative log-probability of the right class: labels are integers (...), scores (..., C), the result (...) in float32
/// (float64 for float64 scores). With `from_logits`, a softmax is applied to the scores. Without it, scores are scaled
/// to sum to 1 and clipped to [1e-7, 1 - 1e-7] as in Keras. A label outside [0, C) is a ValueError when the step runs,
/// and nothing is updated.
MEZZO_API Value sparse_crossentropy(const Value& labels, const Value& scores, bool from_logits);

/// x, as a node of its own.
MEZZO_API Value identity(const Value& x);

/// Returns x and stops its gradient.
MEZZO_API Value stop_gradient(const Value& x);

}  // namespace mezzo
