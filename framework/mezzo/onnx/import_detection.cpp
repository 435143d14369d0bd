#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Boxes of objects in images.
namespace mezzo::detail {
namespace {

constexpr std::int64_t most_boxes = 65536;
constexpr std::int64_t most_bins = 1024;  // of a box along an axis, and samples of a bin

/// Corners of a box, the smaller ones first.
struct Box {
  double top, left, bottom, right;

  double area() const { return (bottom - top) * (right - left); }
};

Box box_of(const double* numbers, bool centre) {
  if (centre) {
    const double x = numbers[0], y = numbers[1], width = numbers[2], height = numbers[3];
    return {y - height / 2, x - width / 2, y + height / 2, x + width / 2};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]), std::max(numbers[0], numbers[2]),
          std::max(numbers[1], numbers[3])};
}

/// Area of the intersection by that of the union.
double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  const double common = height * width;
  return common / (a.area() + b.area() - common);
}

struct Suppression {
  std::int64_t most = 0;  ///< boxes of a class
  double overlap = 0, score = -std::numeric_limits<double>::infinity();
};

/// Boxes of a class, the best first, without those that overlap a better one.
std::vector<std::int64_t> selected(const std::vector<Box>& boxes, const double* scores, const Suppression& by) {
  std::vector<std::int64_t> order(boxes.size()), out;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return scores[a] > scores[b]; });
  for (const std::int64_t one : order) {
    if (static_cast<std::int64_t>(out.size()) >= by.most || !(scores[one] > by.score)) break;
    const Box& box = boxes[static_cast<std::size_t>(one)];
    const bool free = std::none_of(out.begin(), out.end(), [&](std::int64_t better) {
      return overlap(box, boxes[static_cast<std::size_t>(better)]) > by.overlap;
    });
    if (free) out.push_back(one);
  }
  return out;
}

/// Places (batch, class, box) of the selected boxes. Their number follows from the numbers of the inputs.
void run_non_max_suppression(OnnxCall& call) {
  const bool centre = call.integer("center_point_box", 0) != 0;
  const Tensor boxes = call.numbers(0, "boxes"), scores = call.numbers(1, "scores");
  const Shape &shape = boxes.shape(), &wanted = scores.shape();
  if (shape.size() != 3 || wanted.size() != 3 || shape[2] != 4 || shape[0] != wanted[0] || shape[1] != wanted[2] ||
      shape[1] > most_boxes) {
    call.refuse(
        "boxes (N, boxes, 4) and scores (N, classes, boxes) must fit, with at most {} boxes; got shapes {} and {}",
        most_boxes, shape, wanted);
  }
  Suppression by;
  if (call.has(2)) by.most = call.one_int(2, "max_output_boxes_per_class");
  if (call.has(3)) by.overlap = call.one_number(3, "iou_threshold");
  if (call.has(4)) by.score = call.one_number(4, "score_threshold");
  const std::vector<double> corners = boxes.to_doubles();
  std::vector<double> all = scores.to_doubles();
  for (double& score : all) score = std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
  std::vector<std::int64_t> out;
  for (std::int64_t n = 0; n < wanted[0]; ++n) {
    std::vector<Box> of_image;
    for (std::int64_t i = 0; i < shape[1]; ++i)
      of_image.push_back(box_of(&corners[static_cast<std::size_t>((n * shape[1] + i) * 4)], centre));
    for (std::int64_t c = 0; c < wanted[1]; ++c) {
      const double* const of_class = all.data() + (n * wanted[1] + c) * shape[1];
      for (const std::int64_t box : selected(of_image, of_class, by)) out.insert(out.end(), {n, c, box});
    }
  }
  const auto count = static_cast<std::int64_t>(out.size() / 3);
  call.put(Tensor({count, 3}, out));
}

/// How RoiAlign reads an image.
struct RoiSettings {
  std::int64_t height, width, samples;
  double scale, offset;
  bool largest, at_least_one;
};

/// Positions along an axis of `size` pixels: (boxes, bins times samples), with the pixels below and above and the share
/// of the one above. `inside`: 0 beyond the image.
struct RoiPositions {
  Value low, high, share, inside;
};

RoiPositions roi_positions(const RoiSettings& s, const Value& start, const Value& end, std::int64_t bins,
                           std::int64_t samples, std::int64_t size) {
  std::vector<double> places;  // in bins
  for (std::int64_t i = 0; i < bins * samples; ++i) {
    places.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(samples));
  }
  Value extent = end - start;
  if (s.at_least_one) extent = maximum(extent, 1.0);
  const Value bin = expand_dims(extent / static_cast<double>(bins), -1);
  const Tensor along = Tensor({1, bins * samples}, places).cast(DType::float32);
  const Value at = expand_dims(start, -1) + bin * Value(along);
  const auto last = static_cast<double>(size - 1);
  const Value inside = logical_and(at >= -1.0, at <= static_cast<double>(size));
  const Value position = clip(at, 0.0, last);
  const Value low = mezzo::floor(position);
  return {cast(low, DType::int64), cast(minimum(low + 1.0, last), DType::int64), position - low,
          cast(inside, DType::float32)};
}

/// Values of boxes whose bins have that many samples: (boxes, height, width, channels).
Value aligned(const RoiSettings& s, const Value& x, const Value& boxes, const Value& images, std::int64_t rows,
              std::int64_t columns) {
  const Shape shape = x.shape();                                  // (N, H, W, C)
  const Values corners = unstack(boxes * s.scale - s.offset, 1);  // x1, y1, x2, y2
  const RoiPositions y = roi_positions(s, corners[1], corners[3], s.height, rows, shape[1]);
  const RoiPositions across = roi_positions(s, corners[0], corners[2], s.width, columns, shape[2]);
  const Value pixels = reshape(x, {shape[0] * shape[1] * shape[2], shape[3]});
  const Value first = reshape(images, {-1, 1, 1}) * shape[1];
  const auto corner = [&](const Value& row, const Value& row_share, const Value& column, const Value& column_share) {
    const Value place = (first + expand_dims(row, 2)) * shape[2] + expand_dims(column, 1);
    const Value weight = expand_dims(row_share * y.inside, 2) * expand_dims(column_share * across.inside, 1);
    return take(pixels, place, 0) * expand_dims(weight, -1);
  };
  const Values parts{corner(y.low, 1.0 - y.share, across.low, 1.0 - across.share),
                     corner(y.low, 1.0 - y.share, across.high, across.share),
                     corner(y.high, y.share, across.low, 1.0 - across.share),
                     corner(y.high, y.share, across.high, across.share)};
  const auto combined = [&](const Value& a, const Value& b) { return s.largest ? maximum(a, b) : a + b; };
  const Value all = combined(combined(parts[0], parts[1]), combined(parts[2], parts[3]));
  const Value bins = reshape(all, {-1, s.height, rows, s.width, columns, shape[3]});
  return s.largest ? mezzo::max(bins, {.axes = {2, 4}}) : mean(bins, {.axes = {2, 4}});
}

/// Samples of a bin that follow from the size of a box.
std::int64_t samples_of(const RoiSettings& s, double from, double to, std::int64_t bins) {
  double extent = (to - from) * s.scale;
  if (s.at_least_one) extent = std::max(extent, 1.0);
  const double samples = std::ceil(extent / static_cast<double>(bins));
  if (!(samples > 1)) return 1;  // also for NaN
  return samples < static_cast<double>(most_bins) ? static_cast<std::int64_t>(samples) : most_bins;
}

void run_roi_align(OnnxCall& call) {
  const std::string positions =
      call.text("coordinate_transformation_mode", call.opset() < 16 ? "output_half_pixel" : "half_pixel");
  const std::string mode = call.text("mode", "avg");
  if (mode != "avg" && mode != "max") call.refuse("unknown mode \"{}\"; valid names: avg, max", mode);
  if (positions != "half_pixel" && positions != "output_half_pixel") {
    call.refuse("coordinate_transformation_mode \"{}\" isn't supported", positions);
  }
  const bool half = positions == "half_pixel";
  const RoiSettings s{call.integer("output_height", 1),
                      call.integer("output_width", 1),
                      call.integer("sampling_ratio", 0),
                      call.number("spatial_scale", 1),
                      half ? 0.5 : 0.0,
                      mode == "max",
                      !half};
  const Shape shape = call.shape(0), boxes = call.shape(1);
  if (shape.size() != 4 || boxes.size() != 2 || boxes[1] != 4 || call.shape(2) != Shape{boxes[0]} || shape[2] < 1 ||
      shape[3] < 1) {
    call.refuse(
        "images (N, C, H, W), boxes (boxes, 4) and numbers of images (boxes,) must fit; got shapes {}, {} and {}",
        shape, boxes, call.shape(2));
  }
  if (std::min(s.height, s.width) < 1 || std::max({s.height, s.width, s.samples}) > most_bins || s.samples < 0) {
    call.refuse("output sizes must be from 1 to {0} and sampling_ratio from 0 to {0}; got {1}, {2} and {3}", most_bins,
                s.height, s.width, s.samples);
  }
  const Value x = call.in_last(0), images = cast(call.in(2), DType::int64);
  if (s.samples > 0) {
    check_onnx_size(call, {boxes[0], s.height * s.samples, s.width * s.samples, shape[1]});
    return call.put_last(aligned(s, x, call.in(1), images, s.samples, s.samples));
  }
  const std::vector<double> corners = call.numbers(1, "boxes, with sampling_ratio 0,").to_doubles();
  Values out;
  for (std::int64_t i = 0; i < boxes[0]; ++i) {
    const double* const box = corners.data() + 4 * i;
    const std::int64_t rows = samples_of(s, box[1], box[3], s.height), columns = samples_of(s, box[0], box[2], s.width);
    check_onnx_size(call, {s.height * rows, s.width * columns, shape[1]});
    out.push_back(aligned(s, x, slice(call.in(1), {i, 0}, {1, 4}), slice(images, Shape{i}, Shape{1}), rows, columns));
  }
  if (out.empty()) call.refuse("there must be a box; got none");
  call.put_last(concat(out, 0));
}

}  // namespace

void add_onnx_detection(OnnxOperators& table) {
  table["NonMaxSuppression"] = {.run = run_non_max_suppression, .least = 2, .most = 5};
  table["RoiAlign"] = {.run = run_roi_align, .least = 3, .most = 3};
}

}  // namespace mezzo::detail
