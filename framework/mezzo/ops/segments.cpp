#include <algorithm>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/custom_gradient.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/numpy.hpp>

// Products of segments, on the host.
namespace mezzo {
namespace {

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

}  // namespace

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

}  // namespace mezzo
