#pragma once
#include <optional>

#include <mezzo/core/shape.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>
#include <mezzo/ops/padding.hpp>

namespace mezzo {

/// @name Elementwise, with numpy's broadcasting
/// Operands of different dtypes meet in the widest; C++ numbers take the dtype of the other operand. Shapes that
/// don't broadcast are a ShapeError.
/// @{
Value add(const Value& a, const Value& b);
Value subtract(const Value& a, const Value& b);
Value multiply(const Value& a, const Value& b);
/// Integers are divided as floats of the scope's compute dtype.
Value divide(const Value& a, const Value& b);
/// a == b, of dtype bool; not differentiable.
Value equal(const Value& a, const Value& b);

inline Value operator+(const Value& a, const Value& b) { return add(a, b); }
inline Value operator-(const Value& a, const Value& b) { return subtract(a, b); }
inline Value operator*(const Value& a, const Value& b) { return multiply(a, b); }
inline Value operator/(const Value& a, const Value& b) { return divide(a, b); }

/// a = a + b and its like. Under op lists they are ops of their own, "iadd", "isub", "imul" and "itruediv": where no
/// list names them, b takes a's dtype.
Value& operator+=(Value& a, const Value& b);
Value& operator-=(Value& a, const Value& b);
Value& operator*=(Value& a, const Value& b);
Value& operator/=(Value& a, const Value& b);

/// x + bias, which broadcasts. Under op lists that don't name it, bias takes x's dtype, as within torch's linear.
Value bias_add(const Value& x, const Value& bias);
/// @}

/// @name Elementwise, of one float operand
/// Each takes and returns a Value of any shape; integers become floats of the scope's compute dtype. Declared by their
/// rows in ops.def.
/// @{
#define MEZZO_OP(...)
#define MEZZO_UNARY_OP(name, ...) Value name(const Value& x);
#define MEZZO_ALIAS_OP(...)
#include <mezzo/ops/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

/// x times the probability of a normal variable to lie below x (Hendrycks and Gimpel, 2016): x (1 + erf(x / sqrt(2)))
/// / 2, or their approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
Value gelu(const Value& x, bool approximate = false);
inline Value operator-(const Value& x) { return negative(x); }
/// @}

/// The same elements in another dtype. Between floats it is differentiable.
Value cast(const Value& x, DType dtype);

/// `axes`: {} means all of them; negative ones count from the end. `keepdims` leaves axes of size 1 behind.
struct ReduceOptions {
  Shape axes{};
  bool keepdims = false;
};

/// Sums are accumulated in float32, or float64 if x is, and rounded once to x's dtype.
Value sum(const Value& x, const ReduceOptions& options = {});

/// Sum divided by the number of elements summed.
Value mean(const Value& x, const ReduceOptions& options = {});

/// The same elements in another shape; one size may be -1 and is worked out. A ShapeError if sizes disagree.
Value reshape(const Value& x, const Shape& shape);

/// Axis i of the result is axis permutation[i] of x; {} reverses the axes.
Value transpose(const Value& x, const Shape& permutation = {});

/// x stretched to `shape` by numpy's rules.
Value broadcast_to(const Value& x, const Shape& shape);

/// The rows of `table` (V, ...) that `indices`, integers of any shape, name: indices.shape + table.shape[1:], in the
/// table's dtype; of a variable, in the scope's compute dtype: its rows are cast, the table as a whole never is. An
/// index outside of [0, V) is a ValueError when the step runs, and nothing is updated.
Value gather(const Value& table, const Value& indices);

/// The values one after the other along `axis`; their other sizes must be equal, else a ShapeError. Values of different
/// dtypes meet in the widest.
Value concat(const Values& values, std::int64_t axis = -1);

/// For each axis where to begin, and how many elements to take; -1: all that are left.
struct SliceOptions {
  Shape starts{};
  Shape sizes{};
};

/// A box out of x. A ShapeError unless there is a start and a size for each axis and the box lies in x.
Value slice(const Value& x, const SliceOptions& options);

/// x in pieces along `axis`: as many equal ones as a number says, or of the sizes that are listed: `split(x, 3)`,
/// `split(x, {2, 5})`. A ShapeError if they don't make up the axis.
Values split(const Value& x, const Ints& sections, std::int64_t axis = -1);

/// For each axis how many zeros to put before x, and how many after it.
struct PadOptions {
  Shape before{};
  Shape after{};
};

/// x with zeros around it. A ShapeError unless there are two numbers for each axis, a ValueError for negative ones.
Value pad(const Value& x, const PadOptions& options);

/// a where the condition (bool) is true, elsewhere b; all three with numpy's broadcasting. a and b meet in the widest
/// dtype; their gradients are 0 where they weren't taken.
Value where(const Value& condition, const Value& a, const Value& b);

/// `transpose_a`, `transpose_b` swap the last two axes of an operand.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};

/// (..., M, K) by (K, N), or by (..., K, N) with the same leading axes: (..., M, N). Accumulated in float32 (float64
/// for float64).
Value matmul(const Value& a, const Value& b, const MatmulOptions& options = {});

/// As Keras' Conv2D: `padding` is "valid", "same" or numbers (torch's symmetric padding), `groups` divides both
/// channel counts.
struct Conv2DOpOptions {
  Ints strides = 1;
  Padding padding = "valid";
  Ints dilation_rate = 1;
  std::int64_t groups = 1;
};

/// Images (N, H, W, C) by kernels (kh, kw, C / groups, F): (N, OH, OW, F).
Value conv2d(const Value& x, const Value& kernel, const Conv2DOpOptions& options = {});

/// `strides` {} means pool_size.
struct MaxPool2DOpOptions {
  Ints pool_size = 2;
  Ints strides = Ints();
  Padding padding = "valid";
};

/// The maximum of each window of (N, H, W, C); padding counts as -infinity.
Value max_pool2d(const Value& x, const MaxPool2DOpOptions& options = {});

/// `strides` {} means pool_size. `count_padding`: whether windows at the border are divided by their whole size, with
/// zeros in the padding; empty: as the one whose padding it is, so with numbers (torch) but not with "same" (Keras).
struct AvgPool2DOpOptions {
  Ints pool_size = 2;
  Ints strides = Ints();
  Padding padding = "valid";
  std::optional<bool> count_padding{};
};

/// The mean of each window of (N, H, W, C), accumulated in float32 (float64 for float64).
Value avg_pool2d(const Value& x, const AvgPool2DOpOptions& options = {});

/// `epsilon` is added to the variance; `momentum` weighs the old moving statistics.
struct BatchNormOpOptions {
  double epsilon = 1e-3;
  double momentum = 0.99;
};

/// What batch_norm gives: the normalized x, and the moving statistics after this batch, for update_variable; when not
/// training they are the old ones.
struct BatchNormResult {
  Value y;
  Value moving_mean;
  Value moving_variance;
};

/// Normalizes over all axes but the last (Ioffe and Szegedy, 2015): in training, within layers that are all
/// trainable, by the batch's mean and biased variance, otherwise by the moving ones. x is (..., C), the others (C,)
/// in float32 (float64 for a float64 x), in which the statistics are computed.
BatchNormResult batch_norm(const Value& x, const Value& gamma, const Value& beta, const Value& moving_mean,
                           const Value& moving_variance, const BatchNormOpOptions& options = {});

/// exp(x) divided by its sum along `axis`, computed in float32 (float64 for float64). A ShapeError if there is no such
/// axis.
Value softmax(const Value& x, std::int64_t axis = -1);

/// gamma (x - mean) / sqrt(variance + epsilon) + beta, with mean and biased variance over the last axes of x, as many
/// as gamma has (Ba et al., 2016). gamma and beta have the shape of those axes, in float32 (float64 for a float64 x),
/// in which the statistics are computed. A ShapeError if the shapes differ.
Value layer_norm(const Value& x, const Value& gamma, const Value& beta, double epsilon = 1e-3);

/// In training, sets each element to 0 with probability `rate` and divides the others by 1 - rate (Srivastava et
/// al., 2014); otherwise x. What is dropped depends on seed, step, layer path and call, not on threads. A ValueError
/// for a rate outside [0, 1).
Value dropout(const Value& x, double rate);

/// -log of the probability of the right class: labels are integers (...), scores (..., C), the result (...), of
/// float32 (float64 for float64 scores). With `from_logits` a softmax is part of it; without, scores are scaled to
/// sum to 1 and clipped to [1e-7, 1 - 1e-7] as in Keras. A label outside of [0, C) is a ValueError when the step
/// runs, and nothing is updated.
Value sparse_crossentropy(const Value& labels, const Value& scores, bool from_logits);

/// Where the largest element along `axis` is, int64, without that axis; the first of equals.
Value argmax(const Value& x, std::int64_t axis = -1);

/// x, as a node of its own.
Value identity(const Value& x);

/// Passes x, and no gradient.
Value stop_gradient(const Value& x);

}  // namespace mezzo
