#pragma once
#include <string>

#include <mezzo/graph/gradient_context.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {

/// Elementwise with broadcasting, output in the operands' dtype.
std::vector<Spec> infer_broadcast(const OpCall& call);

/// Output like the first input.
std::vector<Spec> infer_same(const OpCall& call);

/// Throws a DTypeError unless input i is floating.
void require_float(const OpCall& call, std::size_t i);

/// Throws a ShapeError unless input i has this rank; `axes` names them: "(batch, height, width, channels)".
void require_rank(const OpCall& call, std::size_t i, std::size_t rank, const std::string& axes);

/// Throws a ShapeError unless input i, the cotangent of what has this shape, has it too.
void require_cotangent(const OpCall& call, std::size_t i, const Shape& shape);

/// Throws a ShapeError unless there are as many numbers as input 0 has axes.
void require_number_for_each_axis(const OpCall& call, const std::string& name, const Shape& numbers);

/// "(1, -1)": numbers that are not sizes.
std::string numbers_text(const Shape& numbers);

/// The cotangent of input i of an elementwise op from that of its broadcast output: summed over the axes that were
/// stretched, in the dtype that is asked for.
Value reduce_to_input(const GradientContext& context, std::size_t i, const Value& gradient);

/// The cotangent of output 0 in the dtype that input i's cotangent is to have, so that what is computed from it
/// accumulates in that dtype from the start.
Value cotangent_for(const GradientContext& context, std::size_t i);

/// The dtype in which x enters an op, were it the only operand.
DType operand_dtype(const Op& op, const Value& x);

/// x in a dtype, without an op where it has it.
Value as(const Value& x, DType dtype);

/// sum with an explicit output dtype.
Value sum_as(const Value& x, const Shape& axes, bool keepdims, DType dtype);

/// Attributes with some replaced or added.
Attributes with(Attributes attributes, std::initializer_list<std::pair<std::string, Attribute>> changes);

}  // namespace mezzo::detail
