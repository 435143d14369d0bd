#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/shape.hpp>

#include <algorithm>

namespace mezzo {
namespace {

std::vector<Spec> infer_scatter_update(const OpCall& call) {
  detail::require_integers(call, 1, "indices");
  const Shape& shape = call.inputs[0].shape;
  if (shape.empty()) fail<ShapeError>(call.where, "input 0 must have at least 1 axis; got shape ()");
  Shape updates = shape;
  if (call.inputs[1].shape.size() == 1) updates[0] = call.inputs[1].shape[0];
  if (call.inputs[1].shape.size() != 1 || updates != call.inputs[2].shape) {
    fail<ShapeError>(call.where, "updates must be a row of {} for each of the indices {}; got shape {}", shape,
                     call.inputs[1].shape, call.inputs[2].shape);
  }
  return {call.inputs[0]};
}

std::vector<Spec> infer_segment_max(const OpCall& call) {
  detail::require_integers(call, 1, "segments");
  Spec out = call.inputs[0];
  if (out.shape.empty() || call.inputs[1].shape != Shape{out.shape[0]}) {
    fail<ShapeError>(call.where, "segments must be one for each row of {}; got shape {}", out.shape,
                     call.inputs[1].shape);
  }
  out.shape[0] = call.attributes.get<std::int64_t>("size");
  return {out};
}

Value rows_at(const Value& x, const Value& indices) {
  return insert_one(ops::take, {x, indices}, {{"axis", std::int64_t{0}}, {"negative", false}});
}

Value sum_rows(const Value& indices, const Value& rows, std::int64_t size) {
  const Op& op = ops::scatter_add;
  const DType dtype = detail::operand_dtypes(op, op.cast, {indices, rows}).back();
  return insert_one(op, {indices, rows},
                    {{"axis", std::int64_t{0}}, {"size", size}, {"negative", false}, {"dtype", dtype}});
}

// Among updates with equal indices, the last one has the cotangent of the row.
Values scatter_update_gradient(const GradientContext& context) {
  Values out(3);
  const Value& indices = context.input(1);
  const Value& g = context.cotangent();
  const Shape& shape = context.input(2).shape();
  if (context.needs(0)) {
    out[0] = insert_one(ops::scatter_update, {g, indices, Tensor(shape, g.dtype())});
  }
  if (context.needs(2)) {
    const Tensor numbers = detail::arange_of(0, static_cast<double>(shape[0]), 1, DType::int32);
    const Value winner =
        insert_one(ops::scatter_update, {Tensor({context.input(0).shape()[0]}, DType::int32), indices, numbers});
    Shape column(shape.size(), 1);
    column[0] = shape[0];
    out[2] = where(reshape(equal(rows_at(winner, indices), numbers), column), rows_at(g, indices), 0.0);
  }
  return out;
}

Values segment_max_gradient(const GradientContext& context) {
  Values out(2);
  const Value& x = context.input(0);
  const Value& segments = context.input(1);
  const DType wide = accumulation_dtype(x.dtype());
  const Value chosen = equal(x, rows_at(context.output(), segments));
  const Value counts = rows_at(sum_rows(segments, cast(chosen, wide), context.output_spec().shape[0]), segments);
  const Value g = rows_at(detail::as(context.cotangent(), wide), segments);
  out[0] = where(chosen, g / counts, 0.0);
  return out;
}

/// The first `count` axes of an array as one, named by the last axis of the indices.
struct Places {
  Value rows;   ///< index of each row, (M,)
  Shape inner;  ///< shape of a row
  std::int64_t size = 1;

  Places(const Value& given, const Shape& shape, const std::string& where) {
    const Value indices = detail::as_labels(given);
    if (is_floating(indices.dtype()) || indices.dtype() == DType::boolean) {
      fail<DTypeError>(where, "indices must be integers; got {}", indices.dtype());
    }
    if (indices.shape().empty()) fail<ShapeError>(where, "indices must have at least 1 axis; got shape ()");
    const std::int64_t depth = indices.shape().back();
    if (depth < 1 || depth > static_cast<std::int64_t>(shape.size())) {
      fail<ShapeError>(where, "indices axis -1 must be in [1, {}] (axes of {}); got shape {}", shape.size(), shape,
                       indices.shape());
    }
    const Value list = cast(reshape(indices, {-1, depth}), DType::int64);
    inner.assign(shape.begin() + depth, shape.end());
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::int64_t along = shape[static_cast<std::size_t>(k)];
      // Checks each index separately: later only their sum is checked.
      const Value checked = rows_at(arange_tensor(along), reshape(slice(list, {{0, k}, {-1, 1}}), {-1}));
      rows = rows.defined() ? rows * along + checked : checked;
      size *= along;
    }
  }

  static Tensor arange_tensor(std::int64_t count) {
    return detail::arange_of(0, static_cast<double>(count), 1, DType::int64);
  }

  Shape with_rows(std::int64_t count) const {
    Shape out{count};
    out.insert(out.end(), inner.begin(), inner.end());
    return out;
  }

  /// Values as rows. Throws a ShapeError unless their shape is that of the indices and that of a row.
  Value values(const Value& all, const Value& indices, const char* name, const std::string& where) const {
    Shape shape(indices.shape().begin(), indices.shape().end() - 1);
    shape.insert(shape.end(), inner.begin(), inner.end());
    if (all.shape() != shape) fail<ShapeError>(where, "{} must have shape {}; got {}", name, shape, all.shape());
    return reshape(all, with_rows(element_count(Shape(indices.shape().begin(), indices.shape().end() - 1))));
  }
};

std::int64_t count_segments(const Value& ids, std::optional<std::int64_t> given, const char* name) {
  const std::string where = detail::current_label(name);
  if (given && *given < 0) fail<ValueError>(where, "num_segments must be at least 0; got {}", *given);
  if (given) return *given;
  if (ids.symbolic()) {
    fail<ValueError>(where, "num_segments must be given for symbolic segment_ids, whose largest is not known");
  }
  double largest = -1;
  for (const double id : ids.tensor().to_doubles()) largest = std::max(largest, id);
  return static_cast<std::int64_t>(largest) + 1;
}

}  // namespace

Op detail::define_scatter_update() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::keep, Cast::promote};
  op.infer = infer_scatter_update;
  op.gradient = scatter_update_gradient;
  op.effect = true;
  return op;
}

Op detail::define_segment_max() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::keep};
  op.infer = infer_segment_max;
  op.gradient = segment_max_gradient;
  op.effect = true;
  return op;
}

Value scatter(const Value& indices, const Value& values, const Shape& shape) {
  const std::string where = detail::current_label("scatter");
  const Places places(indices, shape, where);
  return reshape(sum_rows(places.rows, places.values(values, indices, "values", where), places.size), shape);
}

Value scatter_update(const Value& x, const Value& indices, const Value& updates, const char* reduction) {
  const std::string where = detail::current_label("scatter_update");
  const std::string kind = reduction == nullptr ? "" : reduction;
  if (!kind.empty() && kind != "add") {
    fail_unknown(where, "reduction", kind, {"add"});
  }
  if (kind == "add") return x + scatter(indices, updates, x.shape());
  const Places places(indices, x.shape(), where);
  const Value rows = reshape(x, places.with_rows(places.size));
  return reshape(
      insert_one(ops::scatter_update, {rows, places.rows, places.values(updates, indices, "updates", where)}),
      x.shape());
}

Value segment_sum(const Value& data, const Value& given, std::optional<std::int64_t> num_segments) {
  const Value segment_ids = detail::as_labels(given);
  return sum_rows(segment_ids, data, count_segments(segment_ids, num_segments, "segment_sum"));
}

Value segment_max(const Value& data, const Value& given, std::optional<std::int64_t> num_segments) {
  const Value segment_ids = detail::as_labels(given);
  return insert_one(ops::segment_max, {data, segment_ids},
                    {{"size", count_segments(segment_ids, num_segments, "segment_max")}});
}

Value segment_min(const Value& data, const Value& segment_ids, std::optional<std::int64_t> num_segments) {
  return negative(segment_max(negative(data), segment_ids, num_segments));
}

Value slice(const Value& x, const Shape& start_indices, const Shape& shape) {
  return slice(x, SliceOptions{start_indices, shape});
}

Value dynamic_slice(const Value& x, const Value& given, const Shape& shape) {
  const Value start_indices = detail::as_labels(given);
  const std::string where = detail::current_label("dynamic_slice");
  const auto rank = static_cast<std::int64_t>(x.shape().size());
  if (start_indices.shape() != Shape{rank} || shape.size() != x.shape().size()) {
    fail<ShapeError>(where, "start_indices and shape must hold a number for each axis of {}; got {} and {}", x.shape(),
                     start_indices.shape(), detail::numbers_text(shape));
  }
  Value out = x;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    if (size < 0) fail<ShapeError>(where, "sizes must be at least 0; got {}", detail::numbers_text(shape));
    if (size == x.shape()[static_cast<std::size_t>(axis)]) continue;
    const Value places =
        slice(start_indices, {{axis}, {1}}) + detail::arange_of(0, static_cast<double>(size), 1, start_indices.dtype());
    out = insert_one(ops::take, {out, places}, {{"axis", axis}, {"negative", false}});
  }
  return out;
}

Value slice_update(const Value& x, const Shape& start_indices, const Value& updates) {
  const std::string where = detail::current_label("slice_update");
  const Shape& whole = x.shape();
  const Shape& part = updates.shape();
  if (start_indices.size() != whole.size() || part.size() != whole.size()) {
    fail<ShapeError>(where, "start_indices and updates must have the rank of {}; got {} and {}", whole,
                     detail::numbers_text(start_indices), part);
  }
  Shape after(whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    after[i] = whole[i] - start_indices[i] - part[i];
    if (start_indices[i] < 0 || after[i] < 0) {
      fail<ShapeError>(where, "input axis {} has no {} elements from {} on; got shape {}", i, part[i], start_indices[i],
                       whole);
    }
  }
  const Value inside = pad(full(part, 1, DType::boolean), {start_indices, after});
  return mezzo::where(inside, pad(updates, {start_indices, after}), x);
}

Value one_hot(const Value& given, std::int64_t num_classes, std::int64_t axis, DType dtype) {
  const Value x = detail::as_labels(given);
  const std::string where = detail::current_label("one_hot");
  if (num_classes < 0) fail<ValueError>(where, "num_classes must be at least 0; got {}", num_classes);
  if (is_floating(x.dtype()) || x.dtype() == DType::boolean) {
    fail<DTypeError>(where, "x must be integers; got {}", x.dtype());
  }
  const std::size_t rank = x.shape().size() + 1;
  const std::int64_t along = detail::normalize_axis(axis, rank, where);
  Shape classes(rank, 1);
  classes[static_cast<std::size_t>(along)] = num_classes;
  const Value numbers = arange(num_classes).reshape(classes);
  return cast(equal(expand_dims(x, along), numbers), dtype);
}

Value multi_hot(const Value& x, std::int64_t num_classes, std::int64_t axis, DType dtype) {
  const std::int64_t indices = x.shape().size() > 1 ? 1 : 0;
  return cast(any(one_hot(x, num_classes, axis, DType::boolean), {{indices}}), dtype);
}

}  // namespace mezzo
