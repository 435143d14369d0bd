#include <cmath>

#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_tensors.hpp>
#include <mezzo/onnx/import_windows.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/ops.hpp>

// Images at positions that follow from numbers, and arrays whose sizes do.
namespace mezzo::detail {
namespace {

/// How GridSample reads pixels.
struct GridSettings {
  std::string mode, padding;
  bool corners = false;
};

/// Positions -1 to 1 of a grid as numbers of pixels.
Value pixel_position(const Value& x, std::int64_t size, bool corners) {
  const auto n = static_cast<double>(size);
  return corners ? (x + 1.0) * ((n - 1) / 2) : ((x + 1.0) * n - 1.0) / 2.0;
}

/// Positions outside of [low, high] mirrored into it.
Value mirrored(const Value& x, double low, double high) {
  const double span = high - low;
  if (span <= 0) return zeros_like(x);
  const Value distance = mezzo::fmod(mezzo::abs(x - low), 2 * span);
  return where(distance > span, 2 * span - distance, distance) + low;
}

/// Whole positions of pixels, limited to the image, and where they are inside.
struct Place {
  Value index, inside;
};

Place placed(const GridSettings& s, const Value& position, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  Value at = position;
  if (s.padding == "reflection") {
    at = s.corners ? mirrored(at, 0, last) : mirrored(at, -0.5, last + 0.5);
    at = mezzo::round(at);
  }
  Value inside;
  if (s.padding == "zeros") inside = logical_and(at >= 0.0, at <= last);
  return {cast(clip(at, 0, last), DType::int64), inside};
}

/// Pixels of x (N, D1, D2, ..., C) at whole positions along each spatial axis, (N, positions) each: (N, positions, C).
Value pixels_at(const GridSettings& s, const Value& x, const Values& positions) {
  const Shape shape = x.shape();
  Value flat, inside;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Place place = placed(s, positions[i], shape[i + 1]);
    flat = flat.defined() ? flat * shape[i + 1] + place.index : place.index;
    if (place.inside.defined()) inside = inside.defined() ? logical_and(inside, place.inside) : place.inside;
  }
  const std::int64_t pixels = product_of(shape, 1, shape.size() - 1);
  const Value images = reshape(x, {shape[0], pixels, shape.back()});
  const Shape wanted{shape[0], Shape(flat.shape())[1], shape.back()};
  const Value out = take_along_axis(images, broadcast_to(expand_dims(flat, -1), wanted), 1);
  return inside.defined() ? where(expand_dims(inside, -1), out, 0.0) : out;
}

/// Weight of a pixel at a distance.
Value tap_weight(const GridSettings& s, const Value& distance) {
  const Value x = mezzo::abs(distance);
  if (s.mode == "linear") return maximum(1.0 - x, 0.0);
  constexpr double a = -0.75;
  const Value near = ((a + 2) * x - (a + 3)) * x * x + 1.0;
  const Value far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return where(x <= 1.0, near, where(x < 2.0, far, 0.0));
}

Value sampled(const GridSettings& s, const Value& x, const Values& positions) {
  if (s.mode == "nearest") {
    Values whole;
    for (const Value& position : positions) whole.push_back(mezzo::round(position));
    return pixels_at(s, x, whole);
  }
  const std::int64_t taps = s.mode == "linear" ? 2 : 4, before = taps / 2 - 1;
  const auto axes = positions.size();
  std::int64_t combinations = 1;
  for (std::size_t i = 0; i < axes; ++i) combinations *= taps;
  Value out;
  for (std::int64_t combination = 0; combination < combinations; ++combination) {
    Values whole;
    Value weight;
    std::int64_t rest = combination;
    for (std::size_t i = 0; i < axes; ++i) {
      const Value at = mezzo::floor(positions[i]) + static_cast<double>(rest % taps - before);
      const Value factor = tap_weight(s, positions[i] - at);
      rest /= taps;
      whole.push_back(at);
      weight = weight.defined() ? weight * factor : factor;
    }
    const Value part = pixels_at(s, x, whole) * expand_dims(weight, -1);
    out = out.defined() ? out + part : part;
  }
  return out;
}

void run_grid_sample(OnnxCall& call) {
  GridSettings s{call.text("mode", "linear"), call.text("padding_mode", "zeros"),
                 call.integer("align_corners", 0) != 0};
  if (s.mode == "bilinear") s.mode = "linear";
  if (s.mode == "bicubic") s.mode = "cubic";
  if (s.mode != "linear" && s.mode != "nearest" && s.mode != "cubic") call.refuse("unknown mode \"{}\"", s.mode);
  if (s.padding != "zeros" && s.padding != "border" && s.padding != "reflection") {
    call.refuse("unknown padding_mode \"{}\"", s.padding);
  }
  const Shape sizes = spatial_sizes(call), grid = call.shape(1), shape = call.shape(0);
  const auto axes = static_cast<std::int64_t>(sizes.size());
  if (grid.size() != shape.size() || grid.back() != axes || grid[0] != shape[0]) {
    call.refuse("the grid must have {} axes and {} numbers for each position; got shape {}", shape.size(), axes, grid);
  }
  const std::int64_t count = product_of(grid, 1, grid.size() - 1);
  const Values parts = unstack(reshape(call.in(1), {grid[0], count, axes}), 2);
  Values positions;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Value position = pixel_position(parts[sizes.size() - 1 - i], sizes[i], s.corners);
    const auto last = static_cast<double>(sizes[i] - 1);
    positions.push_back(s.padding == "border" ? clip(position, 0, last)
                        : s.padding == "reflection"
                            ? (s.corners ? mirrored(position, 0, last) : mirrored(position, -0.5, last + 0.5))
                            : position);
    if (s.padding == "reflection")
      positions.back() = clip(positions.back(), s.mode == "cubic" ? -0.5 : 0, s.mode == "cubic" ? last + 0.5 : last);
  }
  Shape wanted(grid.begin(), grid.end() - 1);
  wanted.push_back(shape[1]);
  call.put_last(reshape(sampled(s, call.in_last(0), positions), wanted));
}

/// Grid of the positions of an image whose axes an affine map moves.
void run_affine_grid(OnnxCall& call) {
  const bool corners = call.integer("align_corners", 0) != 0;
  const std::vector<std::int64_t> size = call.ints(1, "size");
  const Shape theta = call.shape(0);
  if (size.size() < 4 || size.size() > 5 || theta.size() != 3 || theta[0] != size[0] ||
      theta[1] != static_cast<std::int64_t>(size.size()) - 2 || theta[2] != theta[1] + 1) {
    call.refuse("theta must fit the size; got shape {} for {} sizes", theta, size.size());
  }
  const Shape spatial(size.begin() + 2, size.end());
  check_onnx_size(call, size);
  Values coordinates;
  for (std::size_t i = spatial.size(); i-- > 0;) {  // x, y, z
    std::vector<double> along;
    const auto n = static_cast<double>(spatial[i]);
    for (double j = 0; j < n; ++j) {
      along.push_back(corners ? (n > 1 ? 2 * j / (n - 1) - 1 : 0) : (2 * j + 1) / n - 1);
    }
    Shape shape(spatial.size(), 1);
    shape[i] = spatial[i];
    coordinates.push_back(broadcast_to(Value(Tensor(shape, along).cast(DType::float32)), spatial));
  }
  coordinates.emplace_back(ones(spatial));
  const std::int64_t count = product_of(spatial, 0, spatial.size());
  const Value points = reshape(stack(coordinates, -1), {1, count, theta[2]});
  Shape wanted{size[0]};
  wanted.insert(wanted.end(), spatial.begin(), spatial.end());
  wanted.push_back(theta[1]);
  const Value grid = matmul(points, cast(call.in(0), DType::float32), {.transpose_b = true});
  call.put(reshape(grid, wanted));
}

/// Sums of columns at the places of windows. For images.
void run_col2im(OnnxCall& call) {
  const std::vector<std::int64_t> image = call.ints(1, "image_shape"), block = call.ints(2, "block_shape");
  OnnxWindows windows = onnx_windows(call, image, block);
  if (image.size() != 2 || block.size() != 2 || call.rank(0) != 3)
    call.refuse("only images with 2 spatial axes are supported");
  if (windows.before != windows.after) call.refuse("pads must be symmetric");
  check_onnx_size(call, image);
  call.put(fold(call.in(0), Ints({image[0], image[1]}), Ints({block[0], block[1]}),
                {.dilation = Ints({windows.dilations[0], windows.dilations[1]}),
                 .padding = Ints({windows.before[0], windows.before[1]}),
                 .stride = Ints({windows.strides[0], windows.strides[1]})}));
}

/// Window functions: sums of cosines.
void run_window(OnnxCall& call, const std::vector<double>& factors) {
  const std::int64_t size = call.one_int(0, "size");
  check_onnx_size(call, {size});
  const bool periodic = call.integer("periodic", 1) != 0;
  const auto type = static_cast<std::int32_t>(call.integer("output_datatype", 1));
  const auto dtype = onnx_dtype(type);
  if (!dtype) call.refuse("mezzo has no dtype {}", onnx_dtype_name(type));
  const double length = periodic ? static_cast<double>(size) : static_cast<double>(size - 1);
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      sum += factors[k] * std::cos(2 * M_PI * static_cast<double>(k) * static_cast<double>(i) / length);
    }
    numbers.push_back(sum);
  }
  OnnxValue out;
  out.first = Tensor({size}, numbers).cast(*dtype);
  out.constant = true;
  call.put(out);
}

OnnxOperator window(const std::vector<double>& factors) {
  return {.run = [factors](OnnxCall& call) { run_window(call, factors); }};
}

/// Elements without repetitions, if the numbers are known.
void run_unique(OnnxCall& call) {
  if (call.has_attribute("axis")) call.refuse("axis isn't supported");
  if (call.integer("sorted", 1) != 1) call.refuse("sorted must be 1; got 0");
  const Unique result = unique(Value(call.numbers(0, "input 0")));
  call.put(result.values);
  if (call.wants(1)) call.put(result.indices, 1);
  if (call.wants(2)) call.put(ravel(result.inverse), 2);
  if (call.wants(3)) call.put(result.counts, 3);
}

}  // namespace

void add_onnx_sampling(OnnxOperators& table) {
  table["GridSample"] = {.run = run_grid_sample, .least = 2, .most = 2};
  table["AffineGrid"] = {.run = run_affine_grid, .least = 2, .most = 2};
  table["Col2Im"] = {.run = run_col2im, .least = 3, .most = 3};
  table["Unique"] = {.run = run_unique, .outputs = 4};
  table["HannWindow"] = window({0.5, -0.5});
  table["HammingWindow"] = window({25.0 / 46, -21.0 / 46});
  table["BlackmanWindow"] = window({0.42, -0.5, 0.08});
}

}  // namespace mezzo::detail
