#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/sorting.hpp>

// Sets and positions: compositions, and functions on the host.
namespace mezzo {
namespace {

Tensor concrete(const Value& x, const char* name) {
  if (x.symbolic()) {
    fail<ValueError>(detail::current_label(name),
                     "x must have numbers: the shape of the result depends on them; got a symbolic Value");
  }
  return x.tensor();
}

}  // namespace

Value isin(const Value& x1, const Value& x2, bool invert) {
  if (x1.weak() || x2.weak()) {
    const Value found = x2.weak() ? equal(x1, x2) : any(equal(x2, x1));
    return invert ? logical_not(found) : found;
  }
  const DType dtype = promote(x1.dtype(), x2.dtype());
  const Value x = detail::as(x1, dtype), set = sort(ravel(detail::as(x2, dtype)), 0);
  const std::int64_t size = set.shape()[0];
  const Value none = zeros_like(x, DType::boolean);
  if (size == 0) return invert ? logical_not(none) : none;
  const Value place = minimum(searchsorted(set, x), Tensor({}, std::vector<std::int64_t>{size - 1}));
  const Value found = equal(take(set, place, 0), x);
  return invert ? logical_not(found) : found;
}

Unique unique(const Value& x) {
  const Tensor all = concrete(x, "unique");
  const OutsideTrace at_once;
  const Value flat = ravel(all);
  const std::int64_t size = all.size();
  const Tensor order = argsort(flat, 0).tensor();
  const Value sorted = take(flat, order, 0);
  std::vector<std::int64_t> starts, inverse(static_cast<std::size_t>(size)), counts, first;
  const Tensor other =
      size > 1
          ? not_equal(slice(sorted, SliceOptions{{1}, {-1}}), slice(sorted, SliceOptions{{0}, {size - 1}})).tensor()
          : Tensor({0}, DType::boolean);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t place = order.data<std::int64_t>()[i];
    if (i == 0 || other.data<bool>()[i - 1]) {
      starts.push_back(i);
      first.push_back(place);
      counts.push_back(0);
    }
    ++counts.back();
    inverse[static_cast<std::size_t>(place)] = static_cast<std::int64_t>(starts.size()) - 1;
  }
  const Shape count{static_cast<std::int64_t>(starts.size())};
  return {take(sorted, Tensor(count, starts), 0).tensor(), Tensor(count, first), Tensor(all.shape(), inverse),
          Tensor(count, counts)};
}

Values nonzero(const Value& x) {
  const Tensor truth = concrete(x, "nonzero").cast(DType::boolean);
  const Shape strides = detail::row_major_strides(truth.shape());
  std::vector<std::vector<std::int64_t>> places(truth.shape().size());
  for (std::int64_t i = 0; i < truth.size(); ++i) {
    if (!truth.data<bool>()[i]) continue;
    for (std::size_t k = 0; k < places.size(); ++k) places[k].push_back(i / strides[k] % truth.shape()[k]);
  }
  Values out;
  for (const auto& axis : places) out.push_back(Tensor({static_cast<std::int64_t>(axis.size())}, axis));
  return out;
}

Values unravel_index(const Value& given, const Shape& shape) {
  const Value indices = detail::as_labels(given);
  const std::string where_called = detail::current_label("unravel_index");
  if (is_floating(indices.dtype()) || indices.dtype() == DType::boolean) {
    fail<DTypeError>(where_called, "indices must be integers; got {}", indices.dtype());
  }
  const std::int64_t total = element_count(shape);
  if (total < 1) fail<ShapeError>(where_called, "shape must have elements; got {}", shape);
  const auto number = [&](std::int64_t n) { return Value(Tensor({}, std::vector<std::int64_t>{n})); };
  const Value wide = detail::as(indices, DType::int64);
  const Value place = clip(where(wide < number(0), wide + number(total), wide), number(0), number(total - 1));
  const Shape strides = detail::row_major_strides(shape);
  Values out;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const Value coordinate = mod(floor_divide(place, number(strides[k])), number(shape[k]));
    out.push_back(detail::as(coordinate, indices.weak() ? DType::int64 : indices.dtype()));
  }
  return out;
}

Value argpartition(const Value& x, std::int64_t kth, std::optional<std::int64_t> axis) {
  const std::string where_called = detail::current_label("argpartition");
  const Size size =
      axis ? x.shape()[static_cast<std::size_t>(detail::normalize_axis(*axis, x.shape().size(), where_called))]
           : Size(element_count(x.shape()));
  if (kth < -size || kth >= size) fail<ValueError>(where_called, "kth must be in [{}, {}); got {}", -size, size, kth);
  return argsort(x, axis);
}

}  // namespace mezzo
