#include <mezzo/ops/spatial_axes.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>

namespace mezzo::detail {

std::size_t spatial_axes(const std::string& where, const Value& x) {
  const Shape& shape = x.shape();
  if (shape.size() < 3 || shape.size() > 5) {
    fail<ShapeError>(where, "x must have 1, 2 or 3 axes between batch and channels; got shape {}", shape);
  }
  const char* const names[] = {"length", "height and width", "depth, height and width"};
  if (std::any_of(shape.begin() + 1, shape.end() - 1, [](std::int64_t size) { return size < 1; })) {
    fail<ShapeError>(where, "{} must be known, and at least 1; got shape {}", names[shape.size() - 3], shape);
  }
  if (shape.back() < 1) fail<ShapeError>(where, "channels must be known, and at least 1; got shape {}", shape);
  return shape.size() - 2;
}

Shape one_for_each(const std::string& where, const std::string& name, const Ints& numbers, std::size_t axes,
                   std::int64_t least) {
  const Shape& given = numbers.numbers();
  const bool good = (given.size() == 1 || given.size() == axes) &&
                    std::all_of(given.begin(), given.end(), [&](std::int64_t n) { return n >= least; });
  if (!good) {
    const char* const counts[] = {"one number", "one or two numbers", "one or three numbers"};
    fail<ValueError>(where, "{} must be {} of at least {}; got {}", name, counts[axes - 1], least, numbers_text(given));
  }
  return given.size() == axes ? given : Shape(axes, given[0]);
}

void require_output_padding(const std::string& where, const Shape& added, const Shape& strides) {
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (added[i] >= strides[i]) {
      fail<ValueError>(where, "output_padding must be less than strides, {}; got {}", numbers_text(strides),
                       numbers_text(added));
    }
  }
}

bool is_same(const std::string& where, const std::string& padding) {
  if (padding != "same" && padding != "valid") {
    fail_unknown(where, "padding", padding, {"same", "valid"});
  }
  return padding == "same";
}

std::pair<std::int64_t, std::int64_t> same_padding(std::int64_t size, std::int64_t reach, std::int64_t stride) {
  const std::int64_t windows = (size + stride - 1) / stride;
  const std::int64_t total = std::max<std::int64_t>((windows - 1) * stride + reach - size, 0);
  return {total / 2, total - total / 2};
}

Windows windows_over(const std::string& where, const char* name, const Value& x, const Shape& sizes,
                     const Shape& strides, const Shape& dilation, bool same) {
  Windows out;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = x.shape()[i + 1].or_unknown(), reach = dilation[i] * (sizes[i] - 1) + 1;
    const auto [before, after] = same ? same_padding(size, reach, strides[i]) : std::pair<std::int64_t, std::int64_t>();
    const std::int64_t padded = before + size + after;
    if (padded < reach) {
      fail<ShapeError>(where, "input axis {} must be at least {} ({} {}); got shape {}", i + 1, reach, name, sizes[i],
                       x.shape());
    }
    out.padding.push_back(before);
    out.padding.push_back(after);
    out.counts.push_back((padded - reach) / strides[i] + 1);
  }
  return out;
}

std::int64_t reach_of(const Shape& sizes, const Ints& dilation) {
  std::int64_t size = 1, factor = 1;
  for (const std::int64_t n : sizes) size = std::max(size, n);
  for (const std::int64_t n : dilation.numbers()) factor = std::max(factor, n);
  return size * factor;
}

}  // namespace mezzo::detail
