#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/graph/gradient_context.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/basic_ops.hpp>

namespace mezzo::detail {

/// Check of elementwise ops with broadcasting. The output has the operands' dtype.
std::vector<Spec> infer_broadcast(const OpCall& call);

/// Check of ops whose output has the shape and dtype of input 0.
std::vector<Spec> infer_like(const OpCall& call);

/// Check of ops of a floating input 0 whose output has its shape and dtype.
std::vector<Spec> infer_same(const OpCall& call);

/// Check of reductions: input 0 without the axes of the attribute "axes", or with size 1 there if "keepdims". The
/// output's dtype is the attribute "dtype", by default the input's.
std::vector<Spec> infer_reduction(const OpCall& call);

/// Throws a DTypeError unless input i holds integers. `name` names it in the error.
void require_integers(const OpCall& call, std::size_t i, const std::string& name);

/// Throws a DTypeError unless input i is floating.
void require_float(const OpCall& call, std::size_t i);

/// Throws a ShapeError unless input i has this rank. `axes` names the axes: "(batch, height, width, channels)".
void require_rank(const OpCall& call, std::size_t i, std::size_t rank, const std::string& axes);

/// Throws an error unless input i holds floating matrices, or square ones, in its last two axes.
void require_matrix(const OpCall& call, std::size_t i);
void require_square(const OpCall& call, std::size_t i);

/// Throws a ShapeError unless the cotangent, input i, has this shape.
void require_cotangent(const OpCall& call, std::size_t i, const Shape& shape);

/// Throws a ShapeError unless `numbers`, the argument `name`, has as many entries as input 0 has axes.
void require_number_for_each_axis(const OpCall& call, const std::string& name, const Shape& numbers);

/// "(1, -1)": prints numbers that are not sizes; to_string(Shape) prints -1 as "?".
std::string numbers_text(const Shape& numbers);

/// Cotangent of input i of an elementwise op: `gradient`, which has the shape of the broadcast output, summed over the
/// axes that were broadcast, in the dtype context.dtype(i).
Value reduce_to_input(const GradientContext& context, std::size_t i, const Value& gradient);

/// Cotangent of output 0 in the dtype context.dtype(i) of input i's cotangent, so that sums accumulate in that dtype.
Value cotangent_for(const GradientContext& context, std::size_t i);

/// Axes counted from the front, in order; all `rank` axes for {}. Throws a ShapeError for an axis that doesn't exist
/// and a ValueError for equal axes.
Shape normalize_axes(const Shape& axes, std::size_t rank, const std::string& where);

/// Product of the sizes of normalized axes.
std::int64_t count_along(const Shape& shape, const Shape& axes);

/// Shape of a reduction of x over normalized axes.
Shape reduced_shape(const Value& x, const Shape& axes, bool keepdims);

/// Broadcasts g, the cotangent of a reduction of an array of shape `to` over normalized axes, back to that shape.
Value stretch(const Value& g, const Shape& axes, const Shape& to);

/// Dtype in which x enters an op without other operands.
DType operand_dtype(const Op& op, const Value& x);

/// Casts x; returns x itself if it has that dtype already.
Value as(const Value& x, DType dtype);

/// x in the dtype in which compositions of several ops compute: the accumulation dtype of the dtype in which a float op
/// takes x (integers become floats of the compute dtype). `narrow` receives that dtype, the dtype of the result.
Value as_wide(const Value& x, DType& narrow);

/// A constant of int64 numbers.
Tensor int64s(const Shape& numbers, const Shape& shape);

/// Sum over normalized axes with an explicit output dtype.
Value sum_as(const Value& x, const Shape& axes, bool keepdims, DType dtype);

/// Key, seed and step of the random numbers of one op.
struct Draw {
  std::int64_t key = 0;
  Value seed, step;

  /// Number of the first element that an array draws, float64 of shape (), if the array has samples of a batch that
  /// ranks share; else undefined. With it a rank draws the same numbers as a single process for these samples.
  Value first_element(const Shape& shape) const;
};

/// Numbers of a draw in the body of a loop.
enum class DrawnFor {
  iteration,  ///< different in each iteration
  loop        ///< the same in all iterations
};

/// The running layer's next draw. In a trace it depends on seed, step, path and the number of earlier draws there;
/// outside, on seed and the number of streams started before.
Draw next_draw(DrawnFor drawn_for = DrawnFor::iteration);

/// Operand "step" of a draw in the running trace.
Value draw_step(DrawnFor drawn_for);

/// Trace::JoinedBatch::mean of the running trace, if statistics are those of all ranks; else empty. `synchronized`:
/// true for a batch norm that uses it without the Trainer's option.
std::function<Value(const Value&)> mean_of_ranks(bool synchronized);

/// Copy of the attributes with some replaced or added.
Attributes with(Attributes attributes, std::initializer_list<std::pair<std::string, Attribute>> changes);

}  // namespace mezzo::detail
