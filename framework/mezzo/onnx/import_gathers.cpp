#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/ops.hpp>

// Elements by index.
namespace mezzo::detail {
namespace {

/// Rows of a trained table are gathered, so that the table has a gradient of few rows.
void run_gather(OnnxCall& call) {
  const std::int64_t axis = call.axis("axis", 0, call.rank(0));
  const Value x = call.in(0), indices = call.in(1);
  if (is_floating(indices.dtype()) || indices.dtype() == DType::boolean) {
    call.refuse("indices must be integers; got {}", dtype_name(indices.dtype()));
  }
  if (axis != 0 || call.variable(0) == nullptr || call.rank(0) < 2) return call.put(take(x, indices, axis));
  const bool counts_back = indices.dtype() != DType::uint8;
  call.put(gather(x, counts_back ? where(indices < 0, indices + call.shape(0)[0], indices) : indices));
}

void run_gather_elements(OnnxCall& call) {
  const std::int64_t axis = call.axis("axis", 0, call.rank(0));
  Value x = call.in(0);
  const Value indices = call.in(1);
  const Shape shape = x.shape(), wanted = indices.shape();
  if (wanted.size() != shape.size()) call.refuse("indices must have {} axes; got shape {}", shape.size(), wanted);
  Shape sizes = wanted;
  sizes[static_cast<std::size_t>(axis)] = shape[static_cast<std::size_t>(axis)];
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > shape[i]) call.refuse("indices must not be larger than the input {}; got shape {}", shape, wanted);
  }
  if (sizes != shape) x = slice(x, {Shape(shape.size(), 0), sizes});
  call.put(take_along_axis(x, indices, axis));
}

/// Indices (..., K) of slices of an array of this shape, as numbers of its first K axes joined into one.
Value joined_indices(const OnnxCall& call, const Value& indices, const Shape& axes) {
  const Shape shape = indices.shape();
  Value out;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    Shape starts(shape.size(), 0), sizes(shape.size(), -1);
    starts.back() = static_cast<std::int64_t>(k);
    sizes.back() = 1;
    Value part = squeeze(slice(indices, {starts, sizes}), -1);
    part = where(part < 0, part + axes[k], part);
    out = out.defined() ? out * axes[k] + part : part;
  }
  if (!out.defined()) call.refuse("indices must name an axis; got shape {}", shape);
  return out;
}

void run_gather_nd(OnnxCall& call) {
  const std::int64_t batches = call.integer("batch_dims", 0);
  const Value x = call.in(0);
  Value indices = call.in(1);
  const Shape shape = x.shape(), of_indices = indices.shape();
  const auto b = static_cast<std::size_t>(batches);
  if (of_indices.empty() || batches < 0 || b >= of_indices.size() ||
      static_cast<std::int64_t>(shape.size()) < batches + of_indices.back() || of_indices.back() < 1) {
    call.refuse("indices must name axes of the input {}; got shape {}", shape, of_indices);
  }
  const std::size_t k = static_cast<std::size_t>(of_indices.back());
  const Shape axes(shape.begin() + static_cast<std::ptrdiff_t>(b), shape.begin() + static_cast<std::ptrdiff_t>(b + k));
  const std::int64_t rows = product_of(axes, 0, k), batch = product_of(shape, 0, b);
  Value places = joined_indices(call, indices, axes);
  if (b > 0) {
    const Shape flat = places.shape();
    const Value offsets = Value(arange(std::int64_t{0}, batch, std::int64_t{1}, DType::int64)) * rows;
    places = reshape(reshape(places, {batch, product_of(flat, b, flat.size())}) + reshape(offsets, {batch, 1}), flat);
  }
  Shape whole{batch * rows};
  whole.insert(whole.end(), shape.begin() + static_cast<std::ptrdiff_t>(b + k), shape.end());
  call.put(take(reshape(x, whole), places, 0));
}

/// 1 at indices, written with the two values off and on.
void run_one_hot(OnnxCall& call) {
  const std::int64_t depth = call.one_int(1, "depth");
  const Value given = call.in(0), values = call.in(2);
  const std::int64_t axis = call.axis("axis", -1, call.rank(0) + 1);
  if (call.shape(2) != Shape{2}) call.refuse("values must have shape (2,); got shape {}", call.shape(2));
  if (depth < 1) call.refuse("depth must be at least 1; got {}", depth);
  Shape whole = call.shape(0);
  whole.push_back(depth);
  check_onnx_size(call, whole);
  const Value indices = cast(given, DType::int64);
  const Value hot = one_hot(where(indices < 0, indices + depth, indices), depth, axis, DType::boolean);
  call.put(where(hot, slice(values, {{1}, {1}}), slice(values, {{0}, {1}})));
}

/// Slices for which the condition is true; without an axis, elements.
void run_compress(OnnxCall& call) {
  const bool flat = !call.has_attribute("axis");
  const Value x = flat ? ravel(call.in(0)) : call.in(0);
  const std::int64_t axis = flat ? 0 : call.axis("axis", 0, call.rank(0));
  const std::vector<double> condition = call.numbers(1, "condition").to_doubles();
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  }
  call.put(take(x, int64_vector(places), axis));
}

void run_non_zero(OnnxCall& call) {
  const Tensor x = call.numbers(0, "input 0");
  call.put(stack(nonzero(Value(x)), 0));
}

/// The first elements of each sequence in reverse.
void run_reverse_sequence(OnnxCall& call) {
  const std::int64_t time = call.axis("time_axis", 0, 2), batch = call.axis("batch_axis", 1, 2);
  if (time == batch || call.rank(0) < 2)
    call.refuse("time_axis and batch_axis must differ; got {} and {}", time, batch);
  const Value x = time == 1 ? call.in(0) : swapaxes(call.in(0), 0, 1);
  const Shape shape = x.shape();
  const Value lengths = reshape(cast(call.in(1), DType::int64), {shape[0], 1});
  const Value steps = arange(std::int64_t{0}, shape[1], std::int64_t{1}, DType::int64);
  Value places = where(steps < lengths, lengths - 1 - steps, steps);
  Shape whole{shape[0], shape[1]};
  whole.resize(shape.size(), 1);
  places = reshape(places, whole);
  const Value y = take_along_axis(x, broadcast_to(places, shape), 1);
  call.put(time == 1 ? y : swapaxes(y, 0, 1));
}

}  // namespace

void add_onnx_gathers(OnnxOperators& table) {
  table["Gather"] = {.run = run_gather, .least = 2, .most = 2};
  table["GatherElements"] = {.run = run_gather_elements, .least = 2, .most = 2};
  table["GatherND"] = {.run = run_gather_nd, .least = 2, .most = 2};
  table["OneHot"] = {.run = run_one_hot, .least = 3, .most = 3};
  table["Compress"] = {.run = run_compress, .least = 2, .most = 2};
  table["NonZero"] = {.run = run_non_zero};
  table["ReverseSequence"] = {.run = run_reverse_sequence, .least = 2, .most = 2};
}

}  // namespace mezzo::detail
