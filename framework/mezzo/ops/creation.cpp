#include <mezzo/ops/creation.hpp>

#include <cmath>
#include <functional>
#include <numbers>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/number_range.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/run_sizes.hpp>

namespace mezzo {
namespace {

/// `count` numbers f(i), computed in double.
Tensor numbers(std::int64_t count, DType dtype, const std::function<double(std::int64_t)>& f) {
  Tensor out({count}, DType::float64);
  for (std::int64_t i = 0; i < count; ++i) out.mutable_data<double>()[i] = f(i);
  return out.cast(dtype);
}

/// (N, M) with 1 where chosen(row, column).
template <class Chosen>
Tensor matrix(std::int64_t rows, std::optional<std::int64_t> columns, DType dtype, const Chosen& chosen) {
  const std::int64_t width = columns.value_or(rows);
  Tensor out({rows, width}, DType::boolean);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < width; ++j) out.mutable_data<bool>()[i * width + j] = chosen(i, j);
  }
  return out.cast(dtype);
}

Tensor space(const char* name, double start, double stop, const SpaceOptions& options,
             const std::function<double(double)>& f) {
  if (options.num < 0) {
    fail<ValueError>(fmt::format("[{}]", name), "num must be at least 0; got {}", options.num);
  }
  const std::int64_t steps = options.endpoint ? options.num - 1 : options.num;
  const double step = steps > 0 ? (stop - start) / static_cast<double>(steps) : 0;
  return numbers(options.num, options.dtype, [&](std::int64_t i) {
    const bool last = options.endpoint && i > 0 && i == options.num - 1;
    return f(last ? stop : start + step * static_cast<double>(i));
  });
}

/// A window: f(position from 0 to 1); 1 for a single point.
Tensor window(std::int64_t points, const std::function<double(double)>& f) {
  if (points < 1) return Tensor({0}, DType::float32);
  return numbers(points, DType::float32, [&](std::int64_t i) {
    return points == 1 ? 1 : f(static_cast<double>(i) / static_cast<double>(points - 1));
  });
}

/// make(sizes, dtype), as with_run_sizes().
Value of_run(const char* name, const Values& shape, DType dtype,
             const std::function<Tensor(const Shape& shape, DType dtype)>& make) {
  const std::string where = detail::current_label(name);
  return detail::with_run_sizes(where, {}, shape, {detail::known_part(shape, where), dtype},
                                [=](const Values&, const Shape& sizes) { return make(sizes, dtype); });
}

Value matrix_of_run(const char* name, const Value& rows, const std::optional<Value>& columns, std::int64_t k,
                    DType dtype, Tensor (*make)(std::int64_t, std::optional<std::int64_t>, std::int64_t, DType)) {
  return of_run(name, {rows, columns.value_or(rows)}, dtype,
                [=](const Shape& sizes, DType of) { return make(sizes[0], sizes[1], k, of); });
}

/// The numbers of a shape. Throws a ShapeError if one isn't known yet.
Shape all_known(std::initializer_list<Size> sizes) { return Shape(sizes.begin(), sizes.end()); }

/// Modified Bessel function of order 0, by its power series.
double bessel_i0(double x) {
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

}  // namespace

Tensor zeros(const Shape& shape, DType dtype) { return Tensor(shape, dtype); }

Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }

Tensor empty(const Shape& shape, DType dtype) { return Tensor(shape, dtype); }

Tensor full(const Shape& shape, double fill_value, DType dtype) {
  detail::number_as(Tensor::scalar(fill_value, DType::float64), dtype, "[full]");  // checks the number
  Tensor out(shape, DType::float64);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data<double>()[i] = fill_value;
  return out.cast(dtype);
}

Tensor zeros(std::initializer_list<Size> shape, DType dtype) { return zeros(all_known(shape), dtype); }

Value zeros(const Values& shape, DType dtype) {
  return of_run("zeros", shape, dtype, [](const Shape& sizes, DType of) { return zeros(sizes, of); });
}

Tensor ones(std::initializer_list<Size> shape, DType dtype) { return ones(all_known(shape), dtype); }

Value ones(const Values& shape, DType dtype) {
  return of_run("ones", shape, dtype, [](const Shape& sizes, DType of) { return ones(sizes, of); });
}

Tensor empty(std::initializer_list<Size> shape, DType dtype) { return empty(all_known(shape), dtype); }

Value empty(const Values& shape, DType dtype) { return zeros(shape, dtype); }

Tensor full(std::initializer_list<Size> shape, double fill_value, DType dtype) {
  return full(all_known(shape), fill_value, dtype);
}

Value full(const Values& shape, double fill_value, DType dtype) {
  return of_run("full", shape, dtype,
                [fill_value](const Shape& sizes, DType of) { return full(sizes, fill_value, of); });
}

Value eye(const Value& rows, const std::optional<Value>& columns, std::int64_t k, DType dtype) {
  return matrix_of_run("eye", rows, columns, k, dtype, eye);
}

Value tri(const Value& rows, const std::optional<Value>& columns, std::int64_t k, DType dtype) {
  return matrix_of_run("tri", rows, columns, k, dtype, tri);
}

Value arange(const Value& start, const Value& stop, const Value& step, DType dtype) {
  return detail::with_run_sizes(
      detail::current_label("arange"), {}, {start, stop, step}, {{-1}, dtype},
      [dtype](const Values&, const Shape& ends) -> Value { return arange(ends[0], ends[1], ends[2], dtype); });
}

Value arange(const Value& stop) { return arange(0, stop); }

Tensor eye(std::int64_t rows, std::optional<std::int64_t> columns, std::int64_t k, DType dtype) {
  return matrix(rows, columns, dtype, [k](std::int64_t i, std::int64_t j) { return j == i + k; });
}

Tensor tri(std::int64_t rows, std::optional<std::int64_t> columns, std::int64_t k, DType dtype) {
  return matrix(rows, columns, dtype, [k](std::int64_t i, std::int64_t j) { return j <= i + k; });
}

Tensor detail::arange_of(double start, double stop, double step, DType dtype) {
  if (step == 0) fail<ValueError>("[arange]", "step must not be 0; got 0");
  const double count = std::ceil((stop - start) / step);
  if (!std::isfinite(count)) {
    fail<ValueError>("[arange]", "start, stop and step must be finite; got {}, {} and {}", start, stop, step);
  }
  return numbers(count > 0 ? static_cast<std::int64_t>(count) : 0, dtype,
                 [&](std::int64_t i) { return start + step * static_cast<double>(i); });
}

Tensor linspace(double start, double stop, const SpaceOptions& options) {
  return space("linspace", start, stop, options, [](double x) { return x; });
}

Tensor logspace(double start, double stop, const SpaceOptions& options, double base) {
  return space("logspace", start, stop, options, [base](double x) { return std::pow(base, x); });
}

Tensor geomspace(double start, double stop, const SpaceOptions& options) {
  if (!(start * stop > 0)) {
    fail<ValueError>("[geomspace]", "start and stop must have one sign and not be 0; got {} and {}", start, stop);
  }
  return space("geomspace", 0, 1, options, [&](double x) { return x == 1 ? stop : start * std::pow(stop / start, x); });
}

Tensor bartlett(std::int64_t size) {
  return window(size, [](double x) { return 1 - std::abs(2 * x - 1); });
}

Tensor blackman(std::int64_t size) {
  return window(size, [](double x) {
    return 0.42 - 0.5 * std::cos(2 * std::numbers::pi * x) + 0.08 * std::cos(4 * std::numbers::pi * x);
  });
}

Tensor hamming(std::int64_t size) {
  return window(size, [](double x) { return 0.54 - 0.46 * std::cos(2 * std::numbers::pi * x); });
}

Tensor hanning(std::int64_t size) {
  return window(size, [](double x) { return 0.5 - 0.5 * std::cos(2 * std::numbers::pi * x); });
}

Tensor kaiser(std::int64_t size, double beta) {
  return window(size, [beta](double x) {
    const double y = 2 * x - 1;
    return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - y * y))) / bessel_i0(beta);
  });
}

Value full_like(const Value& x, double fill_value, std::optional<DType> dtype) {
  const DType to = dtype.value_or(x.dtype());
  if (element_count(x.shape()) >= 0) return full(x.shape(), fill_value, to);
  const Value number = Tensor::scalar(fill_value, to);
  return where(equal(x, x), number, number);  // takes the batch size from x
}

Value zeros_like(const Value& x, std::optional<DType> dtype) { return full_like(x, 0, dtype); }

Value ones_like(const Value& x, std::optional<DType> dtype) { return full_like(x, 1, dtype); }

Value empty_like(const Value& x, std::optional<DType> dtype) { return full_like(x, 0, dtype); }

Value vander(const Value& x, std::optional<std::int64_t> columns, bool increasing) {
  if (x.shape().size() != 1) {
    fail<ShapeError>(detail::current_label("vander"), "x must have 1 axis; got shape {}", x.shape());
  }
  const std::int64_t size = x.shape()[0], count = columns.value_or(size);
  if (count < 0) fail<ValueError>(detail::current_label("vander"), "N must be at least 0; got {}", count);
  const Value column = reshape(x, {size, 1});
  if (count == 0) return slice(column, {{0, 0}, {size, 0}});
  Values parts{ones_like(column)};
  for (std::int64_t i = 1; i < count; ++i) parts.push_back(column);
  const Value powers = cumprod(concat(parts, 1), 1);
  return increasing ? powers : flip(powers, {1});
}

}  // namespace mezzo
