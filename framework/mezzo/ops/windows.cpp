#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/conv2d.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/image_helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/linalg.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/products.hpp>

// Windows and blocks of arrays.
namespace mezzo {
namespace {

Shape pair_of(const detail::Ints& numbers, const char* function, const char* name, std::int64_t least = 1) {
  return numbers.pair(detail::current_label(function), name, least);
}

}  // namespace

Value correlate(const Value& x1, const Value& x2, const char* mode) {
  const std::string label = detail::current_label("correlate");
  const std::string name = mode;
  if (name != "valid" && name != "same" && name != "full") {
    fail_unknown(label, "mode", name, {"full", "same", "valid"});
  }
  if (x1.shape().size() != 1 || x2.shape().size() != 1 || x1.shape()[0] < 1 || x2.shape()[0] < 1) {
    fail<ShapeError>(label, "operands must be vectors with elements; got shapes {} and {}", x1.shape(), x2.shape());
  }
  const DType common = promote(x1.dtype(), x2.dtype());
  DType narrow{};
  const bool whole = !is_floating(common);
  const auto wide = [&](const Value& x) { return whole ? cast(x, DType::float64) : detail::as_wide(x, narrow); };
  const bool swapped = x1.shape()[0] < x2.shape()[0];
  const Value moved = wide(swapped ? x1 : x2), fixed = wide(swapped ? x2 : x1);
  const std::int64_t size = moved.shape()[0];
  const std::int64_t before = name == "valid" ? 0 : name == "full" ? size - 1 : size / 2;
  const std::int64_t after = name == "valid" ? 0 : name == "full" ? size - 1 : size - size / 2 - 1;
  const Value line = before + after > 0 ? pad(fixed, {{before}, {after}}) : fixed;
  const Value sums = conv2d(reshape(line, {1, 1, -1, 1}), reshape(moved, {1, -1, 1, 1}));
  const Value out = reshape(sums, {-1});
  const Value ordered = swapped ? flip(out) : out;
  return whole ? cast(round(ordered), common) : detail::as(ordered, common);
}

Value unfold(const Value& x, const detail::Ints& kernel_size, const UnfoldOptions& options) {
  const std::string label = detail::current_label("unfold");
  const Shape window = pair_of(kernel_size, "unfold", "kernel_size"),
              padding = pair_of(options.padding, "unfold", "padding", 0);
  const Shape dilation = pair_of(options.dilation, "unfold", "dilation"),
              stride = pair_of(options.stride, "unfold", "stride");
  const Shape& shape = x.shape();
  if (shape.size() != 4) fail<ShapeError>(label, "x must be (batch, channels, height, width); got shape {}", shape);
  const Shape margin{0, 0, padding[0], padding[1]};
  const Value whole = padding == Shape{0, 0} ? x : pad(x, {margin, margin});
  const Shape sizes{whole.shape()[2], whole.shape()[3]};
  Shape positions;
  const Tensor places = detail::window_indices(sizes, window, stride, dilation, true, positions);
  const Value lines = take(reshape(whole, {shape[0], shape[1], sizes[0] * sizes[1]}), places, 2);
  return reshape(lines, {shape[0], shape[1] * window[0] * window[1], positions[0] * positions[1]});
}

Value fold(const Value& x, const detail::Ints& output_size, const detail::Ints& kernel_size,
           const UnfoldOptions& options) {
  const std::string label = detail::current_label("fold");
  const Shape window = pair_of(kernel_size, "fold", "kernel_size"),
              padding = pair_of(options.padding, "fold", "padding", 0);
  const Shape dilation = pair_of(options.dilation, "fold", "dilation"),
              stride = pair_of(options.stride, "fold", "stride");
  const Shape target = pair_of(output_size, "fold", "output_size");
  const Shape sizes{target[0] + 2 * padding[0], target[1] + 2 * padding[1]};
  Shape positions;
  const Tensor places = detail::window_indices(sizes, window, stride, dilation, true, positions);
  const std::int64_t elements = window[0] * window[1], count = positions[0] * positions[1];
  const Shape& shape = x.shape();
  if (shape.size() != 3 || shape[1] % elements != 0 || shape[2] != count) {
    fail<ShapeError>(label, "x must be (batch, a multiple of {}, {}) for images of {} by {}; got shape {}", elements,
                     count, target[0], target[1], shape);
  }
  const std::int64_t channels = shape[1] / elements;
  const Value lines = reshape(x, {shape[0], channels, elements * count});
  const DType dtype = detail::operand_dtypes(ops::scatter_add, ops::scatter_add.cast, {places, lines}).back();
  const Value sums =
      insert_one(ops::scatter_add, {places, lines},
                 {{"axis", std::int64_t{2}}, {"size", sizes[0] * sizes[1]}, {"negative", false}, {"dtype", dtype}});
  const Value whole = reshape(sums, {shape[0], channels, sizes[0], sizes[1]});
  return padding == Shape{0, 0} ? whole
                                : slice(whole, {{0, 0, padding[0], padding[1]}, {-1, -1, target[0], target[1]}});
}

Value extract_sequences(const Value& x, std::int64_t sequence_length, std::int64_t sequence_stride) {
  const std::string label = detail::current_label("extract_sequences");
  if (sequence_length < 1 || sequence_stride < 1) {
    fail<ValueError>(label, "sequence_length and sequence_stride must be at least 1; got {} and {}", sequence_length,
                     sequence_stride);
  }
  if (x.shape().empty() || x.shape().back() < 0) {
    fail<ShapeError>(label, "x must have a last axis of known size; got shape {}", x.shape());
  }
  Shape positions, shape = x.shape();
  const Tensor places = detail::window_indices({x.shape().back().or_unknown()}, {sequence_length}, {sequence_stride},
                                               {1}, false, positions);
  shape.back() = positions[0];
  shape.push_back(sequence_length);
  return reshape(take(x, places, -1), shape);
}

Value depth_to_space(const Value& x, std::int64_t block_size) {
  const Shape& s = x.shape();
  const std::int64_t b = block_size;
  if (b < 1 || s.size() != 4 || s[3] % (b * b) != 0) {
    fail<ShapeError>(detail::current_label("depth_to_space"),
                     "x must be (batch, height, width, a multiple of {}); got shape {}", b * b, s);
  }
  const std::int64_t channels = s[3] / (b * b);
  const Value blocks = transpose(reshape(x, {s[0], s[1], s[2], b, b, channels}), {0, 1, 3, 2, 4, 5});
  return reshape(blocks, {s[0], s[1] * b, s[2] * b, channels});
}

Value space_to_depth(const Value& x, std::int64_t block_size) {
  const Shape& s = x.shape();
  const std::int64_t b = block_size;
  if (b < 1 || s.size() != 4 || s[1] % b != 0 || s[2] % b != 0) {
    fail<ShapeError>(detail::current_label("space_to_depth"),
                     "x must be (batch, height, width, channels) with sides that are multiples of {}; got shape {}", b,
                     s);
  }
  const Value blocks = transpose(reshape(x, {s[0], s[1] / b, b, s[2] / b, b, s[3]}), {0, 1, 3, 2, 4, 5});
  return reshape(blocks, {s[0], s[1] / b, s[2] / b, s[3] * b * b});
}

}  // namespace mezzo
