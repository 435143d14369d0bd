#include <mezzo/ops/image_helpers.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/conv2d.hpp>
#include <mezzo/ops/helpers.hpp>

namespace mezzo::detail {

Shape with_batch(const Value& images, std::size_t spatial) {
  Shape shape = images.shape();
  if (shape.size() == spatial + 1) shape.insert(shape.begin(), 1);
  return shape;
}

Value of_images(const char* name, const Value& images, const Values& further, const Shape& shape, DType dtype,
                const std::function<Value(const Values&)>& function, std::size_t spatial) {
  const std::size_t rank = images.shape().size();
  if (rank != spatial + 1 && rank != spatial + 2) {
    fail<ShapeError>(current_label(name), "images must have {} axes, or {} with a batch; got shape {}", spatial + 1,
                     spatial + 2, images.shape());
  }
  const bool single = rank == spatial + 1;
  Values inputs{images};
  inputs.insert(inputs.end(), further.begin(), further.end());
  const Shape result = single ? Shape(shape.begin() + 1, shape.end()) : shape;
  return defer(
             [function, single](const Values& xs) -> Values {
               Values given = xs;
               if (single) given[0] = expand_dims(xs[0], 0);
               const Value out = function(given);
               return {single ? squeeze(out, 0) : out};
             },
             inputs, {{result, dtype}})
      .front();
}

DType float_of(const Value& images) {
  DType narrow{};
  as_wide(images, narrow);
  return narrow;
}

Tensor window_indices(const Shape& sizes, const Shape& window, const Shape& strides, const Shape& dilation,
                      bool windows_first, Shape& positions) {
  const std::size_t rank = sizes.size();
  positions.clear();
  for (std::size_t k = 0; k < rank; ++k) {
    const std::int64_t room = sizes[k] - dilation[k] * (window[k] - 1) - 1;
    positions.push_back(room < 0 ? 0 : room / strides[k] + 1);
  }
  const Shape& outer = windows_first ? window : positions;
  const Shape& inner = windows_first ? positions : window;
  const auto offsets = [&](const Shape& counts, const Shape& steps) {
    std::vector<std::int64_t> out{0};
    for (std::size_t k = 0; k < rank; ++k) {
      std::int64_t below = 1;
      for (std::size_t j = k + 1; j < rank; ++j) below *= sizes[j];
      std::vector<std::int64_t> longer;
      for (const std::int64_t base : out) {
        for (std::int64_t i = 0; i < counts[k]; ++i) longer.push_back(base + i * steps[k] * below);
      }
      out = longer;
    }
    return out;
  };
  std::vector<std::int64_t> all;
  const auto first = offsets(outer, windows_first ? dilation : strides);
  const auto second = offsets(inner, windows_first ? strides : dilation);
  for (const std::int64_t a : first) {
    for (const std::int64_t b : second) all.push_back(a + b);
  }
  return {{static_cast<std::int64_t>(all.size())}, all};
}

Value filtered(const Value& images, const Tensor& kernel, const char* padding) {
  const Shape& shape = images.shape();
  const Value planes = reshape(transpose(images, {0, 3, 1, 2}), {-1, shape[1], shape[2], 1});
  const Value weights = kernel.cast(images.dtype()).reshape({kernel.shape()[0], kernel.shape()[1], 1, 1});
  Conv2DOpOptions options;
  options.padding = padding;
  const Value out = conv2d(planes, weights, options);
  return transpose(reshape(out, {shape[0], shape[3], out.shape()[1], out.shape()[2]}), {0, 2, 3, 1});
}

Tensor gaussian(std::int64_t size, double sigma) {
  Tensor out({size}, DType::float64);
  double* const weights = out.mutable_data<double>();
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const double x = (static_cast<double>(i) - static_cast<double>(size - 1) / 2) / sigma;
    sum += weights[i] = std::exp(-0.5 * x * x);
  }
  for (std::int64_t i = 0; i < size; ++i) weights[i] /= sum;
  return out;
}

}  // namespace mezzo::detail
