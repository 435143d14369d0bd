#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/number_range.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/custom_gradient.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/run_sizes.hpp>
#include <mezzo/ops/sorting.hpp>

// Sets, positions and pieces: compositions, and functions on the host.
namespace mezzo {
namespace {

Tensor concrete(const Value& x, const char* name) {
  if (x.symbolic()) {
    fail<ValueError>(detail::current_label(name),
                     "x must have numbers: the shape of the result depends on them; got a symbolic Value");
  }
  return x.tensor();
}

/// Products of rows by segment, or, given the cotangents of the products, those of the rows.
Tensor segment_products(const Tensor& data, const Tensor& ids, const Tensor* cotangent, std::int64_t count,
                        const std::string& where) {
  const std::vector<double> x = data.to_doubles(), rows = ids.to_doubles();
  const std::int64_t width = element_count(Shape(data.shape().begin() + 1, data.shape().end()));
  const auto columns = static_cast<std::size_t>(width);
  std::vector<double> products(static_cast<std::size_t>(count) * columns, 1.0), others(x.size(), 1.0);
  const auto multiply_row = [&](std::size_t row) {
    if (!(rows[row] >= 0 && rows[row] < static_cast<double>(count))) {
      fail<ValueError>(where, "segment_ids must be in [0, {}); got {}", count, rows[row]);
    }
    double* const product = products.data() + static_cast<std::size_t>(rows[row]) * columns;
    for (std::size_t k = 0; k < columns; ++k) {
      others[row * columns + k] *= product[k];
      product[k] *= x[row * columns + k];
    }
  };
  for (std::size_t row = 0; row < rows.size(); ++row) multiply_row(row);
  Shape shape = data.shape();
  shape[0] = count;
  if (cotangent == nullptr) return Tensor(shape, products).cast(data.dtype());
  std::fill(products.begin(), products.end(), 1.0);  // once more from the end: rows behind each row
  for (std::size_t row = rows.size(); row-- > 0;) multiply_row(row);
  const std::vector<double> g = cotangent->to_doubles();
  for (std::size_t i = 0; i < others.size(); ++i) {
    others[i] *= g[static_cast<std::size_t>(rows[i / columns]) * columns + i % columns];
  }
  return Tensor(data.shape(), others).cast(cotangent->dtype());
}

Values split_along(const char* name, const Value& x, std::size_t axis, std::int64_t sections, const Shape* indices) {
  const std::size_t along = axis == 1 && x.shape().size() == 1 ? 0 : axis;
  if (x.shape().size() < std::max<std::size_t>(along + 1, axis == 1 ? 1 : axis == 0 ? 2 : 3)) {
    fail<ShapeError>(detail::current_label(name), "x must have an axis {} and at least {} axes; got shape {}", along,
                     axis == 1   ? 1
                     : axis == 0 ? 2
                                 : 3,
                     x.shape());
  }
  if (indices != nullptr) return array_split(x, *indices, static_cast<std::int64_t>(along));
  const std::int64_t size = x.shape()[along].or_unknown();
  if (sections < 1 || size % sections != 0) {
    fail<ShapeError>(detail::current_label(name), "axis {} must have a multiple of {} elements; got shape {}", along,
                     sections, x.shape());
  }
  return array_split(x, sections, static_cast<std::int64_t>(along));
}

/// The next number after x towards y, by the order of the bits.
template <class Bits>
Bits next_bits(Bits x, Bits y) {
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  if (x == y || (((x | y) & static_cast<Bits>(~sign)) == 0)) return y;
  if ((x & static_cast<Bits>(~sign)) == 0) return static_cast<Bits>((y & sign) | 1);
  const auto key = [](Bits bits) {
    return (bits & sign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | sign);
  };
  const bool away = (key(y) > key(x)) == ((x & sign) == 0);
  return static_cast<Bits>(away ? x + 1 : x - 1);
}

template <class Bits>
void next_numbers(const Tensor& from, const Tensor& to, const std::vector<double>& x, const std::vector<double>& y,
                  Tensor& out) {
  const auto* const a = static_cast<const std::byte*>(from.raw());
  const auto* const b = static_cast<const std::byte*>(to.raw());
  auto* const result = static_cast<std::byte*>(out.mutable_raw());
  for (std::size_t i = 0; i < x.size(); ++i) {
    Bits first{}, second{};
    std::memcpy(&first, a + i * sizeof(Bits), sizeof(Bits));
    std::memcpy(&second, b + i * sizeof(Bits), sizeof(Bits));
    const Bits next = std::isnan(x[i]) ? first : std::isnan(y[i]) ? second : next_bits(first, second);
    std::memcpy(result + i * sizeof(Bits), &next, sizeof(Bits));
  }
}

Tensor next_after(const Tensor& from, const Tensor& to) {
  const std::vector<double> x = from.to_doubles(), y = to.to_doubles();
  Tensor out = Tensor::uninitialized(from.shape(), from.dtype());
  if (dtype_size(from.dtype()) == 8) next_numbers<std::uint64_t>(from, to, x, y, out);
  if (dtype_size(from.dtype()) == 4) next_numbers<std::uint32_t>(from, to, x, y, out);
  if (dtype_size(from.dtype()) == 2) next_numbers<std::uint16_t>(from, to, x, y, out);
  return out;
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

Value segment_prod(const Value& data, const Value& given, std::optional<std::int64_t> num_segments) {
  const Value segment_ids = detail::as_labels(given);
  const std::string where_called = detail::current_label("segment_prod");
  if (data.shape().empty() || segment_ids.shape() != Shape{data.shape()[0]}) {
    fail<ShapeError>(where_called, "segment_ids must be one for each row of {}; got shape {}", data.shape(),
                     segment_ids.shape());
  }
  if (is_floating(segment_ids.dtype()) || segment_ids.dtype() == DType::boolean) {
    fail<DTypeError>(where_called, "segment_ids must be integers; got {}", segment_ids.dtype());
  }
  if (!num_segments && segment_ids.symbolic()) {
    fail<ValueError>(where_called, "num_segments must be given for symbolic segment_ids, whose largest is not known");
  }
  double largest = -1;
  if (!num_segments) {
    for (const double id : segment_ids.tensor().to_doubles()) largest = std::max(largest, id);
  }
  const std::int64_t count = num_segments.value_or(static_cast<std::int64_t>(largest) + 1);
  if (count < 0) fail<ValueError>(where_called, "num_segments must be at least 0; got {}", count);
  HostOptions to_segments;
  to_segments.shape = data.shape();
  (*to_segments.shape)[0] = count;
  const auto forward = [=](const std::vector<Tensor>& xs) {
    return segment_products(xs[0], xs[1], nullptr, count, where_called);
  };
  const auto backward = [=](const std::vector<Tensor>& xs) {
    return segment_products(xs[0], xs[1], &xs[2], count, where_called);
  };
  const auto product = custom_gradient([=](const Values& x) {
    const Value rows = stop_gradient(x[0]);
    const Value& ids = x[1];
    return CustomGradientResult{host(forward, {rows, ids}, to_segments), [=](const Value& upstream) {
                                  return Values{host(backward, {rows, ids, stop_gradient(upstream)}), Value()};
                                }};
  });
  return product({data, segment_ids});
}

Values hsplit(const Value& x, std::int64_t sections) { return split_along("hsplit", x, 1, sections, nullptr); }
Values hsplit(const Value& x, const Shape& indices) { return split_along("hsplit", x, 1, 0, &indices); }
Values vsplit(const Value& x, std::int64_t sections) { return split_along("vsplit", x, 0, sections, nullptr); }
Values vsplit(const Value& x, const Shape& indices) { return split_along("vsplit", x, 0, 0, &indices); }
Values dsplit(const Value& x, std::int64_t sections) { return split_along("dsplit", x, 2, sections, nullptr); }
Values dsplit(const Value& x, const Shape& indices) { return split_along("dsplit", x, 2, 0, &indices); }

Value nextafter(const Value& x1, const Value& x2) {
  const std::string where_called = detail::current_label("nextafter");
  const DType dtype = x1.weak() ? x2.dtype() : x2.weak() ? x1.dtype() : promote(x1.dtype(), x2.dtype());
  if (!is_floating(dtype)) fail<DTypeError>(where_called, "operands must be floating; got {}", dtype);
  const Shape shape = broadcast(x1.shape(), x2.shape(), where_called);
  const auto whole = [&](const Value& x, const Value& other) {
    const Value same =
        x.weak() ? Value(detail::number_as(x.tensor(), dtype, where_called)) : detail::as(stop_gradient(x), dtype);
    return detail::broadcast_beside(same, shape, other);
  };
  return host([](const std::vector<Tensor>& xs) { return next_after(xs[0], xs[1]); }, {whole(x1, x2), whole(x2, x1)});
}

}  // namespace mezzo
