#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/ops.hpp>

// Arrays with some elements replaced.
namespace mezzo::detail {
namespace {

/// x with rows replaced, or combined with the updates. Indices are (..., K).
Value scattered(OnnxCall& call, const Value& x, const Value& indices, const Value& updates) {
  const std::string reduction = call.text("reduction", "none");
  if (reduction == "none") return scatter_update(x, indices, updates);
  if (reduction == "add") return scatter_update(x, indices, updates, "add");
  if (reduction != "mul" && reduction != "max" && reduction != "min") {
    call.refuse("unknown reduction \"{}\"; valid names: none, add, mul, max, min", reduction);
  }
  const Shape all = indices.shape(), shape = x.shape();
  const auto k = static_cast<std::size_t>(all.back());
  const std::int64_t rows = product_of(shape, 0, k), rest = product_of(shape, k, shape.size());
  const std::int64_t count = product_of(all, 0, all.size() - 1);
  const Shape strides = row_major_strides(Shape(shape.begin(), shape.begin() + all.back()));
  const Value places = sum(reshape(indices, {count, all.back()}) * Value(int64_vector(strides)), {.axes = {1}});
  const Value flat = reshape(x, {rows, rest}), changes = reshape(updates, {count, rest});
  Value y;
  if (reduction == "mul") {
    y = flat * segment_prod(changes, places, rows);
  } else if (reduction == "max") {
    y = maximum(flat, segment_max(changes, places, rows));
  } else {
    y = minimum(flat, -segment_max(-changes, places, rows));
  }
  return reshape(y, shape);
}

void run_scatter_nd(OnnxCall& call) {
  const Value x = call.in(0), updates = call.in(2);
  Value indices = call.in(1);
  const Shape shape = x.shape(), of_indices = indices.shape();
  if (of_indices.empty() || of_indices.back() < 1 || of_indices.back() > static_cast<std::int64_t>(shape.size())) {
    call.refuse("indices must name axes of the input {}; got shape {}", shape, of_indices);
  }
  const std::vector<std::int64_t> sizes(shape.begin(), shape.begin() + of_indices.back());
  indices = where(indices < 0, indices + Value(int64_vector(sizes)), indices);
  call.put(scattered(call, x, indices, updates));
}

/// Places of the elements in the array as a vector: each axis counts, with the indices along `axis`.
void run_scatter_elements(OnnxCall& call) {
  const Value x = call.in(0), updates = call.in(2);
  const Shape shape = x.shape(), wanted = call.shape(1);
  const auto axis = static_cast<std::size_t>(call.axis("axis", 0, shape.size()));
  if (wanted.size() != shape.size() || call.shape(2) != wanted) {
    call.refuse("indices and updates must have {} axes and one shape; got shapes {} and {}", shape.size(), wanted,
                call.shape(2));
  }
  const Value given = cast(call.in(1), DType::int64);
  const Value indices = where(given < 0, given + shape[axis], given);
  const Shape strides = row_major_strides(shape);
  Value places = indices * strides[axis];
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i == axis) continue;
    if (wanted[i] > shape[i]) call.refuse("indices must not be larger than the input {}; got shape {}", shape, wanted);
    Shape along(shape.size(), 1);
    along[i] = wanted[i];
    const Value steps = arange(std::int64_t{0}, wanted[i], std::int64_t{1}, DType::int64);
    places = places + reshape(steps, along) * strides[i];
  }
  const std::int64_t count = product_of(wanted, 0, wanted.size());
  const Value flat = scattered(call, ravel(x), reshape(places, {count, 1}), reshape(updates, {count}));
  call.put(reshape(flat, shape));
}

}  // namespace

void add_onnx_scatters(OnnxOperators& table) {
  table["ScatterND"] = {.run = run_scatter_nd, .least = 3, .most = 3};
  table["ScatterElements"] = {.run = run_scatter_elements, .least = 3, .most = 3};
  table["Scatter"] = {.run = run_scatter_elements, .least = 3, .most = 3};
}

}  // namespace mezzo::detail
