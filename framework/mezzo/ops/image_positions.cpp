#include <algorithm>
#include <cmath>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/image.hpp>
#include <mezzo/ops/image_helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/linalg.hpp>
#include <mezzo/ops/random.hpp>

// Pixels by position: map_coordinates and the transforms of images that it makes.
namespace mezzo {
namespace {

Tensor scalar_of(std::int64_t number) { return {{}, std::vector<std::int64_t>{number}}; }

/// An index (int64) beyond the border moved into [0, size) by the mode.
Value fixed_index(const Value& index, std::int64_t size, const std::string& mode) {
  const Value last = scalar_of(size - 1);
  if (mode == "wrap") return mod(index, scalar_of(size));
  if (mode == "mirror" || mode == "reflect") {
    if (mode == "mirror" && size == 1) return index * 0;
    // Reflections at the border pixels' centers, or at their outer edges.
    const std::int64_t period = mode == "mirror" ? 2 * (size - 1) : 2 * size;
    const Value place = mod(index, scalar_of(period));
    const Value back = scalar_of(mode == "mirror" ? period : period - 1) - place;
    return minimum(place, back);
  }
  return clip(index, scalar_of(0), last);
}

void require_mode(const std::string& mode, const std::string& where) {
  for (const char* valid : {"constant", "nearest", "wrap", "mirror", "reflect"}) {
    if (mode == valid) return;
  }
  fail_unknown(where, "fill_mode", mode, {"constant", "mirror", "nearest", "reflect", "wrap"});
}

std::int64_t order_of(const std::string& interpolation, const std::string& where) {
  if (interpolation != "nearest" && interpolation != "bilinear") {
    fail_unknown(where, "interpolation", interpolation, {"bilinear", "nearest"});
  }
  return interpolation == "bilinear" ? 1 : 0;
}

/// Neighbours of a coordinate along an axis, with their weights.
struct Neighbour {
  Value place;   ///< int64, inside of the axis
  Value inside;  ///< bool; undefined if all are
  Value weight;  ///< undefined: 1
};

std::vector<Neighbour> neighbours(const Value& coordinate, std::int64_t size, std::int64_t order,
                                  const std::string& mode) {
  const auto at = [&](const Value& place, const Value& weight) {
    const Value index = cast(stop_gradient(place), DType::int64);
    Value inside;
    if (mode == "constant") inside = logical_and(index >= scalar_of(0), index < scalar_of(size));
    return Neighbour{fixed_index(index, size, mode), inside, weight};
  };
  if (order == 0) {  // halves away from 0
    const Value place = sign(coordinate) * floor(abs(coordinate) + 0.5);
    return {at(place, Value())};
  }
  const Value low = floor(coordinate), part = coordinate - low;
  return {at(low, 1 - part), at(low + 1, part)};
}

/// Rows of `rows` (M, ...) at coordinates of the axes `sizes`, which are the first ones; `base` is added to the row's
/// index. Coordinates and results have one shape; `stretch` adds the axes of a row to it.
Value interpolated(const Value& rows, const Value& base, const Values& coordinates, const Shape& sizes,
                   std::int64_t order, const image::MapCoordinatesOptions& options, bool stretch) {
  std::vector<Neighbour> corners{{base, Value(), Value()}};
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    std::vector<Neighbour> next;
    for (const Neighbour& corner : corners) {
      for (const Neighbour& side : neighbours(coordinates[k], sizes[k], order, options.fill_mode)) {
        const auto both = [](const Value& a, const Value& b, Value (*join)(const Value&, const Value&)) {
          return a.defined() && b.defined() ? join(a, b) : a.defined() ? a : b;
        };
        next.push_back({corner.place * scalar_of(sizes[k]) + side.place, both(corner.inside, side.inside, logical_and),
                        both(corner.weight, side.weight, multiply)});
      }
    }
    corners = next;
  }
  const auto wide = [stretch](const Value& x) { return stretch ? expand_dims(x, -1) : x; };
  Value out;
  for (const Neighbour& corner : corners) {
    Value part = take(rows, corner.place, 0);
    if (corner.inside.defined()) part = where(wide(corner.inside), part, options.fill_value);
    if (corner.weight.defined()) part = part * wide(corner.weight);
    out = out.defined() ? out + part : part;
  }
  return out;
}

/// Images (N, H, W, C) at rows and columns (N, H, W), in the images' dtype.
Value sampled(const Value& images, const Value& y, const Value& x, std::int64_t order,
              const image::MapCoordinatesOptions& options) {
  const Shape& shape = images.shape();
  if (element_count(shape) == 0) return images;
  DType narrow{};
  const Value wide = detail::as_wide(images, narrow);
  const Value rows = reshape(wide, {-1, shape[3]});
  const Value base = Tensor(detail::arange_of(0, static_cast<double>(shape[0]), 1, DType::int64)).reshape({-1, 1, 1});
  Value out = interpolated(rows, base, {y, x}, {shape[1], shape[2]}, order, options, true);
  if (!is_floating(images.dtype())) out = sign(out) * floor(abs(out) + 0.5);
  return detail::as(out, images.dtype());
}

/// Rows and columns of the pixels, as floats: (H, 1) and (W,).
std::pair<Value, Value> grid(const Shape& shape, DType dtype) {
  return {arange(shape[1]).reshape({-1, 1}).cast(dtype), arange(shape[2]).cast(dtype)};
}

/// Projective transform of the pixels by numbers t (N, 8) in the order of affine_transform.
Value projected(const Value& images, const Value& t, std::int64_t order, const image::MapCoordinatesOptions& options) {
  const Shape& shape = images.shape();
  const auto [y, x] = grid(shape, t.dtype());
  const Value rows = y, columns = x;
  const auto number = [&](std::int64_t i) { return reshape(slice(t, {{0, i}, {-1, 1}}), {-1, 1, 1}); };
  const Value k = number(6) * columns + number(7) * rows + 1;
  const Shape pixels{shape[0], shape[1], shape[2]};
  const auto place = [&](std::int64_t i) {
    return broadcast_to((number(i) * columns + number(i + 1) * rows + number(i + 2)) / k, pixels);
  };
  return sampled(images, place(3), place(0), order, options);
}

Value batch_of(const Value& x, std::size_t rank) { return x.shape().size() == rank ? expand_dims(x, 0) : x; }

}  // namespace

Value image::map_coordinates(const Value& x, const Value& coordinates, std::int64_t order,
                             const MapCoordinatesOptions& options) {
  const std::string where = detail::current_label("map_coordinates");
  require_mode(options.fill_mode, where);
  if (order != 0 && order != 1) fail<ValueError>(where, "order must be 0 or 1; got {}", order);
  const Shape& sizes = x.shape();
  const Shape& many = coordinates.shape();
  if (many.size() < 2 || many[0] != static_cast<std::int64_t>(sizes.size())) {
    fail<ShapeError>(where, "coordinates must have shape ({}, ...), a row for each axis of {}; got shape {}",
                     sizes.size(), sizes, many);
  }
  if (element_count(sizes) <= 0) fail<ShapeError>(where, "x must have elements and a known shape; got shape {}", sizes);
  DType narrow{}, of_places{};
  const Value rows = reshape(detail::as_wide(x, narrow), {-1});
  const Values places = unstack(detail::as_wide(coordinates, of_places), 0);
  Value out = interpolated(rows, scalar_of(0), places, sizes, order, options, false);
  if (!is_floating(x.dtype())) out = sign(out) * floor(abs(out) + 0.5);
  return detail::as(out, x.dtype());
}

Value image::affine_transform(const Value& images, const Value& transform, const AffineOptions& options) {
  const std::string where = detail::current_label("affine_transform");
  require_mode(options.fill_mode, where);
  const std::int64_t order = order_of(options.interpolation, where);
  if (transform.shape().empty() || transform.shape().size() > 2 || transform.shape().back() != 8) {
    fail<ShapeError>(where, "transform must have shape (8,) or (batch, 8); got shape {}", transform.shape());
  }
  MapCoordinatesOptions mode;
  mode.fill_mode = options.fill_mode;
  mode.fill_value = options.fill_value;
  return detail::of_images("affine_transform", images, {batch_of(transform, 1)}, detail::with_batch(images),
                           images.dtype(), [order, mode](const Values& xs) {
                             DType narrow{};
                             return projected(xs[0], detail::as_wide(xs[1], narrow), order, mode);
                           });
}

Value image::perspective_transform(const Value& images, const Value& start_points, const Value& end_points,
                                   const PerspectiveOptions& options) {
  const std::string where = detail::current_label("perspective_transform");
  const std::int64_t order = order_of(options.interpolation, where);
  const Shape& shape = start_points.shape();
  const std::size_t rank = shape.size();
  if ((rank != 2 && rank != 3) || shape[rank - 2] != 4 || shape[rank - 1] != 2 || shape != end_points.shape()) {
    fail<ShapeError>(where, "start_points and end_points must both have shape (4, 2) or (batch, 4, 2); got {} and {}",
                     shape, end_points.shape());
  }
  MapCoordinatesOptions mode;
  mode.fill_value = options.fill_value;
  return detail::of_images(
      "perspective_transform", images, {batch_of(start_points, 2), batch_of(end_points, 2)}, detail::with_batch(images),
      images.dtype(), [order, mode](const Values& xs) {
        DType narrow{};
        const Values start = unstack(detail::as_wide(xs[1], narrow), -1),
                     end = unstack(detail::as_wide(xs[2], narrow), -1);
        const Value one = ones_like(end[0]), none = zeros_like(end[0]);
        // Two equations for each point: start = (t0 x + t1 y + t2, t3 x + t4 y + t5) / (t6 x + t7 y + 1).
        const auto last = [&](const Value& to, const Value& from) { return negative(to * from); };
        const Value across =
            stack({end[0], end[1], one, none, none, none, last(start[0], end[0]), last(start[0], end[1])}, -1);
        const Value down =
            stack({none, none, none, end[0], end[1], one, last(start[1], end[0]), last(start[1], end[1])}, -1);
        const Value t = solve(concat({across, down}, 1), concat({start[0], start[1]}, 1));
        return projected(xs[0], t, order, mode);
      });
}

Value image::elastic_transform(const Value& images, const ElasticOptions& options) {
  const std::string where = detail::current_label("elastic_transform");
  require_mode(options.fill_mode, where);
  const std::int64_t order = order_of(options.interpolation, where);
  if (!(options.sigma > 0)) fail<ValueError>(where, "sigma must be positive; got {}", options.sigma);
  const std::int64_t reach = static_cast<std::int64_t>(6 * options.sigma) | 1;
  const Tensor weights = detail::gaussian(reach, options.sigma);
  MapCoordinatesOptions mode;
  mode.fill_mode = options.fill_mode;
  mode.fill_value = options.fill_value;
  return detail::of_images(
      "elastic_transform", images, {}, detail::with_batch(images), images.dtype(), [=](const Values& xs) {
        const Shape& shape = xs[0].shape();
        const DType dtype = accumulation_dtype(detail::float_of(xs[0]));
        const auto distance = [&](std::uint64_t draw) {
          random::NormalOptions numbers;
          numbers.dtype = dtype;
          if (options.seed) numbers.seed = *options.seed + draw;
          const Value noise = random::normal(Shape{shape[0], shape[1], shape[2], 1}, numbers);
          const Value smooth = detail::filtered(detail::filtered(noise, weights.reshape({-1, 1}), "same"),
                                                weights.reshape({1, -1}), "same");
          return squeeze(smooth, -1) * (options.alpha * options.sigma);
        };
        const auto [y, x] = grid(shape, dtype);
        const Value down = y + distance(0), across = x + distance(1);
        return sampled(xs[0], down, across, order, mode);
      });
}

}  // namespace mezzo
