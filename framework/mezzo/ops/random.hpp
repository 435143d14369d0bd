#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/size.hpp>
#include <mezzo/graph/value.hpp>

// keras.random: random numbers as functions. Without a seed, each call draws new numbers: outside of steps they depend
// on seed_everything() and the number of earlier draws; in a step on that seed, the step, the layer and the number of
// its earlier draws, so that steps have different numbers. With a seed, a call returns the same numbers each time. The
// numbers do not depend on the number of threads, and are the same in eager and compiled steps. They differ from those
// of Keras' backends.
namespace mezzo::random {

/// Shape of random numbers: sizes, `{2, 3}`, also from shape(), `{shape(x)[0], 3}`, or a Value of that shape:
/// `normal(z)`. The last two are evaluated for each batch of a functional model.
class MEZZO_API LikeShape {
 public:
  /// From sizes, from Values of shape(), or the shape of an array.
  LikeShape(std::initializer_list<Size> sizes);
  template <class = void>
  LikeShape(std::initializer_list<Value> sizes) : LikeShape(Values(sizes)) {}
  LikeShape(const Values& sizes);
  LikeShape(Shape sizes) : shape_(std::move(sizes)) {}
  LikeShape(const ShapeView& sizes) : shape_(sizes) {}
  LikeShape(const Value& x) : shape_(x.shape()), like_(x) {}
  LikeShape(const Tensor& x) : LikeShape(Value(x)) {}

  const Shape& shape() const { return shape_; }   ///< -1: a size that is known when the graph runs
  const Value& like() const { return like_; }     ///< array whose shape is taken; undefined if sizes were given
  const Values& sizes() const { return sizes_; }  ///< sizes as Values; empty if all are numbers

 private:
  Shape shape_;
  Value like_;    // Value of that shape
  Values sizes_;  // sizes, some from shape()
};

/// Options of normal and truncated_normal.
struct NormalOptions {
  Value mean = 0.0;                     ///< broadcast to the shape; has a gradient
  Value stddev = 1.0;                   ///< likewise
  DType dtype = DType::float32;         ///< dtype of the numbers, floating
  std::optional<std::uint64_t> seed{};  ///< the same numbers at each call; default: new ones
};

/// Normal distribution. Throws a ValueError for a shape that is not known, a DTypeError for a dtype that isn't
/// floating, as all functions of this file.
MEZZO_API Value normal(const LikeShape& shape, const NormalOptions& options = {});

/// Normal distribution of the numbers that are at most 2 stddev from the mean.
MEZZO_API Value truncated_normal(const LikeShape& shape, const NormalOptions& options = {});

/// Options of uniform.
struct UniformOptions {
  Value minval = 0.0;                   ///< least number; broadcast to the shape; has a gradient
  Value maxval = 1.0;                   ///< numbers are below it, up to rounding; likewise
  DType dtype = DType::float32;         ///< dtype of the numbers, floating
  std::optional<std::uint64_t> seed{};  ///< the same numbers at each call; default: new ones
};

/// Uniform distribution in [minval, maxval).
MEZZO_API Value uniform(const LikeShape& shape, const UniformOptions& options = {});

/// Options of the other distributions.
struct DrawOptions {
  DType dtype = DType::float32;         ///< dtype of the numbers
  std::optional<std::uint64_t> seed{};  ///< the same numbers at each call; default: new ones
};

/// Options of distributions of integers.
struct IntegerDrawOptions {
  DType dtype = DType::int32;           ///< dtype of the numbers
  std::optional<std::uint64_t> seed{};  ///< the same numbers at each call; default: new ones
};

/// Integers in [minval, maxval), all equally probable. Throws a ValueError unless minval is below maxval and both fit
/// into the dtype, a DTypeError for a dtype other than integers.
MEZZO_API Value randint(const LikeShape& shape, std::int64_t minval, std::int64_t maxval,
                        const IntegerDrawOptions& options = {});

/// 1 with the given probability, which broadcasts to the shape, else 0; of any dtype. A probability outside [0, 1] is a
/// ValueError when the step runs. Not differentiable, like the distributions below.
MEZZO_API Value bernoulli(const LikeShape& shape, const Value& probability, const DrawOptions& options = {});

/// Number of successes in `counts` independent trials with `probabilities`, both broadcast to the shape. Negative or
/// fractional counts, and probabilities outside [0, 1], are a ValueError when the step runs.
MEZZO_API Value binomial(const LikeShape& shape, const Value& counts, const Value& probabilities,
                         const DrawOptions& options = {});

/// Gamma distribution of shape `alpha` and scale 1; alpha broadcasts to the shape. An alpha that isn't positive is a
/// ValueError when the step runs.
MEZZO_API Value gamma(const LikeShape& shape, const Value& alpha, const DrawOptions& options = {});

/// Beta distribution, of parameters as in gamma.
MEZZO_API Value beta(const LikeShape& shape, const Value& alpha, const Value& beta, const DrawOptions& options = {});

/// num_samples classes for each row of `logits` (batch, classes), with the probabilities softmax(logits): (batch,
/// num_samples). Throws a ShapeError for logits of another rank or without classes, a ValueError for a negative
/// num_samples. A row with NaN, or of -infinity alone, is a ValueError when the step runs.
MEZZO_API Value categorical(const Value& logits, std::int64_t num_samples, const IntegerDrawOptions& options = {});

/// Options of shuffle.
struct ShuffleOptions {
  std::optional<std::uint64_t> seed{};  ///< the same order at each call; default: another one
};

/// The slices of x along `axis` in random order. Differentiable.
MEZZO_API Value shuffle(const Value& x, std::int64_t axis = 0, const ShuffleOptions& options = {});

/// Options of dropout.
struct DropoutOptions {
  std::optional<Shape> noise_shape{};   ///< shape of the random choice, which broadcasts to x's; default: x's shape
  std::optional<std::uint64_t> seed{};  ///< the same choice at each call; default: another one
};

/// Sets elements to 0 with probability `rate` and divides the others by 1 - rate, in training or not: mezzo::dropout()
/// does so in training only. Throws a ValueError for a rate outside [0, 1).
MEZZO_API Value dropout(const Value& x, double rate, const DropoutOptions& options = {});

}  // namespace mezzo::random
