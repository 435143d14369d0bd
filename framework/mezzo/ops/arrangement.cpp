#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/run_sizes.hpp>
#include <mezzo/ops/shape.hpp>

// Compositions that rearrange axes and elements.
namespace mezzo {
namespace {

std::size_t place(std::int64_t axis) { return static_cast<std::size_t>(axis); }

/// {0, 1, ..., rank - 1}
Shape all_axes(std::size_t rank) {
  Shape axes(rank);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  return axes;
}

Value piece(const Value& x, std::int64_t axis, std::int64_t start, std::int64_t count) {
  Shape starts(x.shape().size(), 0), sizes(x.shape().size(), -1);
  starts[place(axis)] = start;
  sizes[place(axis)] = count;
  return slice(x, {starts, sizes});
}

std::int64_t known_size(const Value& x, std::int64_t axis, const std::string& where) {
  const std::int64_t size = x.shape()[place(axis)].or_unknown();
  if (size < 0) fail<ShapeError>(where, "input axis {} must have a known size; got shape {}", axis, x.shape());
  return size;
}

/// x with the shape to(shape of x), also if several sizes are not known yet.
Value reshaped(const Value& x, const std::function<Shape(Shape)>& to) {
  const auto run = [to](const Value& y) { return reshape(y, to(y.shape())); };
  const auto open = std::count_if(x.shape().begin(), x.shape().end(), [](std::int64_t size) { return size < 0; });
  return open > 1 ? with_sizes(run, x) : run(x);
}

/// Reshapes values of fewer than `rank` axes: `row` is the shape of a vector.
Values at_least(const Values& values, std::size_t rank, const Shape& scalar, std::size_t before) {
  Values out;
  for (const Value& value : values) {
    const Shape& shape = value.shape();
    if (shape.size() >= rank) {
      out.push_back(value);
    } else if (shape.empty()) {
      out.push_back(reshape(value, scalar));
    } else {
      Shape wide(rank, 1);
      std::copy(shape.begin(), shape.end(), wide.begin() + static_cast<std::ptrdiff_t>(shape.size() == 1 ? before : 0));
      out.push_back(reshape(value, wide));
    }
  }
  return out;
}

}  // namespace

Value expand_dims(const Value& x, const detail::Ints& axis) {
  const std::string where = detail::current_label("expand_dims");
  if (axis.empty()) return x;
  const std::size_t rank = x.shape().size() + axis.numbers().size();
  const Shape axes = detail::normalize_axes(axis.numbers(), rank, where);
  return reshaped(x, [axes](Shape to) {
    for (const auto at : axes) to.insert(to.begin() + at, 1);
    return to;
  });
}

Value squeeze(const Value& x, const detail::Ints& axis) {
  const std::string where = detail::current_label("squeeze");
  const Shape& shape = x.shape();
  Shape axes = axis.empty() ? Shape{} : detail::normalize_axes(axis.numbers(), shape.size(), where);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const bool listed = std::find(axes.begin(), axes.end(), at) != axes.end();
    if (listed && shape[i] != 1) fail<ShapeError>(where, "input axis {} must be 1; got shape {}", i, shape);
    if (axis.empty() && shape[i] == 1) axes.push_back(at);
  }
  if (axes.empty()) return x;
  std::sort(axes.begin(), axes.end());
  return reshaped(x, [axes](Shape to) {
    for (auto at = axes.rbegin(); at != axes.rend(); ++at) to.erase(to.begin() + *at);
    return to;
  });
}

Value moveaxis(const Value& x, const detail::Ints& source, const detail::Ints& destination) {
  const std::string where = detail::current_label("moveaxis");
  const std::size_t rank = x.shape().size();
  if (source.numbers().size() != destination.numbers().size()) {
    fail<ValueError>(where, "source and destination must have as many axes; got {} and {}",
                     detail::numbers_text(source.numbers()), detail::numbers_text(destination.numbers()));
  }
  if (source.empty()) return x;
  detail::normalize_axes(source.numbers(), rank, where);
  detail::normalize_axes(destination.numbers(), rank, where);
  Shape order(rank, -1), rest = all_axes(rank);
  for (std::size_t i = 0; i < source.numbers().size(); ++i) {
    const std::int64_t from = detail::normalize_axis(source.numbers()[i], rank, where);
    order[place(detail::normalize_axis(destination.numbers()[i], rank, where))] = from;
    rest.erase(std::find(rest.begin(), rest.end(), from));
  }
  std::size_t next = 0;
  for (auto& axis : order) {
    if (axis < 0) axis = rest[next++];
  }
  return order == all_axes(rank) ? x : transpose(x, order);
}

Value swapaxes(const Value& x, std::int64_t axis1, std::int64_t axis2) {
  const std::string where = detail::current_label("swapaxes");
  const std::size_t rank = x.shape().size();
  Shape order = all_axes(rank);
  const std::int64_t first = detail::normalize_axis(axis1, rank, where),
                     second = detail::normalize_axis(axis2, rank, where);
  std::swap(order[place(first)], order[place(second)]);
  return first == second ? x : transpose(x, order);
}

Value ravel(const Value& x) { return reshape(x, {-1}); }

Value stack(const Values& values, std::int64_t axis) {
  const std::string where = detail::current_label("stack");
  if (values.empty()) fail<ValueError>(where, "takes at least one input; got 0");
  const std::int64_t along = detail::normalize_axis(axis, values[0].shape().size() + 1, where);
  Values parts;
  for (const Value& value : values) {
    if (value.shape() != values[0].shape()) {
      fail<ShapeError>(where, "inputs must have one shape; got {} and {}", values[0].shape(), value.shape());
    }
    parts.push_back(expand_dims(value, along));
  }
  return parts.size() == 1 ? parts[0] : concat(parts, along);
}

Values unstack(const Value& x, std::int64_t axis) {
  const std::string where = detail::current_label("unstack");
  const std::int64_t along = detail::normalize_axis(axis, x.shape().size(), where);
  const std::int64_t count = known_size(x, along, where);
  if (count == 0) return {};
  Values out;
  const Values parts = insert(ops::split, {x}, {{"axis", along}, {"sizes", Shape(place(count), 1)}});
  for (const Value& part : parts) out.push_back(squeeze(part, along));
  return out;
}

Value concatenate(const Values& values, std::int64_t axis) { return concat(values, axis); }

Value append(const Value& x1, const Value& x2, std::optional<std::int64_t> axis) {
  return axis ? concat({x1, x2}, *axis) : concat({ravel(x1), ravel(x2)}, 0);
}

Value hstack(const Values& values) {
  const Values parts = at_least(values, 1, {1}, 0);
  return concat(parts, !parts.empty() && parts[0].shape().size() > 1 ? 1 : 0);
}

Value vstack(const Values& values) { return concat(at_least(values, 2, {1, 1}, 1), 0); }

Value dstack(const Values& values) { return concat(at_least(values, 3, {1, 1, 1}, 1), 2); }

Values detail::split_evenly(const Value& x, std::int64_t sections, std::int64_t axis) {
  const std::string where = detail::current_label("array_split");
  const std::int64_t along = detail::normalize_axis(axis, x.shape().size(), where);
  const std::int64_t size = known_size(x, along, where);
  if (sections < 1) fail<ValueError>(where, "the number of sections must be at least 1; got {}", sections);
  Shape sizes;
  for (std::int64_t i = 0; i < sections; ++i) sizes.push_back(size / sections + (i < size % sections ? 1 : 0));
  return insert(ops::split, {x}, {{"axis", along}, {"sizes", sizes}});
}

Values array_split(const Value& x, const Shape& indices, std::int64_t axis) {
  const std::string where = detail::current_label("array_split");
  const std::int64_t along = detail::normalize_axis(axis, x.shape().size(), where);
  const std::int64_t size = known_size(x, along, where);
  Shape sizes;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i <= indices.size(); ++i) {
    const std::int64_t given = i < indices.size() ? indices[i] : size;
    const std::int64_t end = std::clamp<std::int64_t>(given < 0 ? given + size : given, begin, std::max(begin, size));
    sizes.push_back(end - begin);
    begin = end;
  }
  return insert(ops::split, {x}, {{"axis", along}, {"sizes", sizes}});
}

namespace {

Value tiled(const Value& x, Shape counts) {
  const std::string where = detail::current_label("tile");
  Shape from = x.shape();
  if (std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; })) {
    fail<ValueError>(where, "repeats must be at least 0; got {}", detail::numbers_text(counts));
  }
  const std::size_t rank = std::max(counts.size(), from.size());
  counts.insert(counts.begin(), rank - counts.size(), 1);
  from.insert(from.begin(), rank - from.size(), 1);
  Shape apart, stretched, to;
  for (std::size_t i = 0; i < rank; ++i) {
    if (counts[i] != 1) {
      apart.push_back(1);
      stretched.push_back(counts[i]);
    }
    apart.push_back(from[i]);
    stretched.push_back(from[i]);
    to.push_back(from[i] < 0 ? -1 : from[i] * counts[i]);
  }
  const Value wide = broadcast_to(reshape(x, apart), stretched);
  return wide.shape() == to ? wide : reshape(wide, to);
}

}  // namespace

Value tile(const Value& x, const detail::Ints& repeats) { return tiled(x, repeats.numbers()); }

Value tile(const Value& x, const Values& repeats) {
  const std::size_t rank = std::max(repeats.size(), x.shape().size());
  return detail::with_run_sizes(detail::current_label("tile"), {x}, repeats, {Shape(rank, -1), x.dtype()},
                                [](const Values& xs, const Shape& counts) { return tiled(xs[0], counts); });
}

Value repeat(const Value& x, const detail::Ints& repeats, std::optional<std::int64_t> axis) {
  const std::string where = detail::current_label("repeat");
  const Value from = axis ? x : ravel(x);
  const std::int64_t along = detail::normalize_axis(axis.value_or(0), from.shape().size(), where);
  const std::int64_t size = from.shape()[place(along)].or_unknown();
  const Shape& counts = repeats.numbers();
  if (std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; })) {
    fail<ValueError>(where, "repeats must be at least 0; got {}", detail::numbers_text(counts));
  }
  if (counts.size() == 1) {
    const auto run = [along, count = counts[0]](const Value& y) {
      Shape apart = y.shape(), stretched = apart, to = apart;
      apart.insert(apart.begin() + along + 1, 1);
      stretched.insert(stretched.begin() + along + 1, count);
      if (to[place(along)] >= 0) to[place(along)] *= count;
      return reshape(broadcast_to(reshape(y, apart), stretched), to);
    };
    return with_sizes(run, from);
  }
  if (static_cast<std::int64_t>(counts.size()) != size) {
    fail<ValueError>(where, "repeats must be one number or one for each of the {} elements of axis {}; got {}", size,
                     along, detail::numbers_text(counts));
  }
  Shape indices;
  for (std::size_t i = 0; i < counts.size(); ++i)
    indices.insert(indices.end(), place(counts[i]), static_cast<std::int64_t>(i));
  return take(from, detail::int64s(indices, {static_cast<std::int64_t>(indices.size())}), along);
}

Value detail::repeat_by_size(const Value& x, const Value& repeats, std::optional<std::int64_t> axis) {
  Shape to{-1};
  if (axis) {
    to = x.shape();
    to[place(detail::normalize_axis(*axis, to.size(), detail::current_label("repeat")))] = -1;
  }
  return with_run_sizes(detail::current_label("repeat"), {x}, {repeats}, {to, x.dtype()},
                        [axis](const Values& xs, const Shape& count) { return repeat(xs[0], count[0], axis); });
}

Value roll(const Value& x, const detail::Ints& shift, const detail::Ints& axis) {
  const std::string where = detail::current_label("roll");
  const Shape& shifts = shift.numbers();
  if (shifts.empty()) fail<ValueError>(where, "needs a shift; got none");
  if (axis.empty()) {
    std::int64_t total = std::accumulate(shifts.begin(), shifts.end(), std::int64_t{0});
    return reshape(roll(ravel(x), total, 0), x.shape());
  }
  const Shape& axes = axis.numbers();
  if (shifts.size() != axes.size() && shifts.size() != 1 && axes.size() != 1) {
    fail<ValueError>(where, "shift and axis must have as many numbers; got {} and {}", detail::numbers_text(shifts),
                     detail::numbers_text(axes));
  }
  Value out = x;
  for (std::size_t i = 0; i < std::max(shifts.size(), axes.size()); ++i) {
    const std::int64_t along = detail::normalize_axis(axes[axes.size() == 1 ? 0 : i], x.shape().size(), where);
    const std::int64_t size = known_size(x, along, where), by = shifts[shifts.size() == 1 ? 0 : i];
    const std::int64_t moved = size == 0 ? 0 : (by % size + size) % size;
    if (moved == 0) continue;
    out = concat({piece(out, along, size - moved, moved), piece(out, along, 0, size - moved)}, along);
  }
  return out;
}

Value diagonal(const Value& x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  const std::string where = detail::current_label("diagonal");
  const std::size_t rank = x.shape().size();
  const std::int64_t first = detail::normalize_axis(axis1, rank, where),
                     second = detail::normalize_axis(axis2, rank, where);
  if (first == second) fail<ValueError>(where, "axes must differ; got ({}, {})", axis1, axis2);
  const Value planes = moveaxis(x, {first, second}, {-2, -1});
  Shape shape = planes.shape();
  const std::int64_t columns = shape.back(), rows = shape[rank - 2];
  shape.resize(rank - 2);
  shape.push_back(rows * columns);
  Shape places;
  for (std::int64_t i = std::max<std::int64_t>(0, -offset); i < rows && i + offset < columns; ++i) {
    places.push_back(i * columns + i + offset);
  }
  return take(reshape(planes, shape), detail::int64s(places, {static_cast<std::int64_t>(places.size())}), -1);
}

Value trace(const Value& x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  return sum(diagonal(x, offset, axis1, axis2), {{-1}});
}

// Rows of n + 1 elements with x as the first one; read as rows of n elements, they are the matrix.
Value diagflat(const Value& x, std::int64_t k) {
  const std::int64_t count = size(x), n = count + std::abs(k);
  if (count == 0) return broadcast_to(full_like(reshape(sum(x), {1, 1}), 0, x.dtype()), {n, n});
  const Value rows = pad(reshape(x, {count, 1}), {{0, 0}, {0, n}});
  const std::int64_t before = k >= 0 ? k : -k * n;
  const std::int64_t after = std::max<std::int64_t>(n * n - before - count * (n + 1), 0);
  const Value line = pad(ravel(rows), {{before}, {after}});
  return reshape(slice(line, {{0}, {n * n}}), {n, n});
}

Value diag(const Value& x, std::int64_t k) {
  const std::size_t rank = x.shape().size();
  if (rank != 1 && rank != 2) {
    fail<ShapeError>(detail::current_label("diag"), "x must have 1 or 2 axes; got shape {}", x.shape());
  }
  return rank == 1 ? diagflat(x, k) : diagonal(x, k);
}

Value tril(const Value& x, std::int64_t k) {
  const Shape& shape = x.shape();
  if (shape.size() < 2)
    fail<ShapeError>(detail::current_label("tril"), "x must have at least 2 axes; got shape {}", shape);
  return where(tri(shape[shape.size() - 2], shape.back(), k, DType::boolean), x, 0);
}

Value triu(const Value& x, std::int64_t k) {
  const Shape& shape = x.shape();
  if (shape.size() < 2)
    fail<ShapeError>(detail::current_label("triu"), "x must have at least 2 axes; got shape {}", shape);
  return where(tri(shape[shape.size() - 2], shape.back(), k - 1, DType::boolean), 0, x);
}

Values meshgrid(const Values& vectors, const char* indexing) {
  const std::string where = detail::current_label("meshgrid"), kind = indexing;
  if (kind != "xy" && kind != "ij") {
    fail_unknown(where, "indexing", kind, {"xy", "ij"});
  }
  const std::size_t rank = vectors.size();
  Shape shape;
  for (const Value& vector : vectors) {
    if (vector.shape().size() > 1) fail<ShapeError>(where, "inputs must have 1 axis; got shape {}", vector.shape());
    shape.push_back(size(vector));
  }
  const bool swapped = kind == "xy" && rank > 1;
  if (swapped) std::swap(shape[0], shape[1]);
  Values out;
  for (std::size_t i = 0; i < rank; ++i) {
    Shape own(rank, 1);
    const std::size_t along = swapped && i < 2 ? 1 - i : i;
    own[along] = shape[along];
    out.push_back(broadcast_to(reshape(vectors[i], own), shape));
  }
  return out;
}

}  // namespace mezzo
