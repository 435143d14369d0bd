#include <mezzo/graph/quantization.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/code_formulas.hpp>
#include <mezzo/graph/codes.hpp>
#include <mezzo/precision/nf4.hpp>

namespace mezzo::detail {
namespace {

/// Groups of the numbers of an array that share a scale.
class Grouping {
 public:
  Grouping(const Shape& shape, const Shape& shared, std::int64_t block)
      : at_(shape, shared, block),
        columns_(shape.back()),
        rows_(columns_ == 0 ? 0 : element_count(shape) / columns_),
        count_(static_cast<std::size_t>(element_count(shape_of_scales(shape, shared, block)))) {}

  std::size_t count() const { return count_; }

  /// Calls body(number, group) for all numbers in their order.
  template <class Body>
  void each(const Body& body) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      const std::int64_t first = at_.of_row(row);
      for (std::int64_t i = 0; i < columns_; ++i) {
        body(row * columns_ + i, static_cast<std::size_t>(first + at_.of_column(i)));
      }
    }
  }

 private:
  ScalePositions at_;
  std::int64_t columns_, rows_;
  std::size_t count_;
};

/// The array whose axes `shared_axes()` names: the weight, or the matrix of packed codes.
Shape grouped_shape(const Quantization& q) {
  if (!q.packed()) return q.shape;
  const MatrixSizes sizes = q.matrix();
  return {sizes.rows, sizes.columns};
}

Shape shared_axes(const Quantization& q) {
  if (!q.packed()) return q.axes.inputs;
  return {q.axes.table ? 1 : 0};
}

void require_finite(const float* x, std::int64_t count, const std::string& name) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isfinite(x[i])) continue;
    fail<ValueError>("", "[Variable \"{}\"] quantize: numbers must be finite; got {} at position {}", name, x[i], i);
  }
}

/// Codes by the largest magnitude of each group.
void quantize_symmetric(const float* x, const Grouping& groups, CodeRange<float> range, float* scale,
                        std::int8_t* codes) {
  std::fill_n(scale, groups.count(), 0.0F);
  groups.each([&](std::int64_t i, std::size_t g) { scale[g] = std::max(scale[g], std::abs(x[i])); });
  for (std::size_t g = 0; g < groups.count(); ++g) scale[g] = symmetric_scale(scale[g], range.limit);
  groups.each([&](std::int64_t i, std::size_t g) {
    codes[i] = static_cast<std::int8_t>(symmetric_code(x[i], scale[g], range));
  });
}

/// Codes by the range from the lowest to the highest number of each group and 0.
void quantize_with_zero(const float* x, const Grouping& groups, float* scale, std::int8_t* zero, std::int8_t* codes) {
  std::vector<float> least(groups.count(), 0.0F), most = least;
  groups.each([&](std::int64_t i, std::size_t g) {
    least[g] = std::min(least[g], x[i]);
    most[g] = std::max(most[g], x[i]);
  });
  for (std::size_t g = 0; g < groups.count(); ++g) {
    const ScaleWithZero<float> of(least[g], most[g]);
    scale[g] = of.scale;
    zero[g] = static_cast<std::int8_t>(of.zero);
  }
  groups.each([&](std::int64_t i, std::size_t g) {
    codes[i] = static_cast<std::int8_t>(code_with_zero(x[i], scale[g], static_cast<float>(zero[g])));
  });
}

/// Codes of NF4 by the largest magnitude of each group.
void quantize_to_nf4(const float* x, const Grouping& groups, float* scale, std::int8_t* codes) {
  std::fill_n(scale, groups.count(), 0.0F);
  groups.each([&](std::int64_t i, std::size_t g) { scale[g] = std::max(scale[g], std::abs(x[i])); });
  groups.each([&](std::int64_t i, std::size_t g) {
    codes[i] = static_cast<std::int8_t>(nf4_code(scale[g] > 0 ? x[i] / scale[g] : 0));
  });
}

}  // namespace

MatrixSizes matrix_sizes(const Shape& shape, const QuantizableAxes& axes) {
  MatrixSizes out{1, 1};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool of_sum =
        std::find(axes.inputs.begin(), axes.inputs.end(), static_cast<std::int64_t>(axis)) != axes.inputs.end();
    (of_sum != axes.table ? out.rows : out.columns) *= shape[axis];
  }
  return out;
}

Tensor Quantization::codes(const Tensor& stored) const {
  if (!packed()) return stored;
  const MatrixSizes sizes = matrix();
  const std::int64_t bytes = bytes_of_codes(sizes.columns, 4);
  Tensor out = Tensor::uninitialized(shape, DType::int8);
  const auto* from = stored.data<std::int8_t>();
  auto* to = out.mutable_data<std::int8_t>();
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    for (std::int64_t column = 0; column < sizes.columns; ++column) {
      const std::int32_t code = code_at(from + row * bytes, column, 4);
      *to++ = static_cast<std::int8_t>(nf4() ? code & 15 : code);
    }
  }
  return out;
}

Tensor Quantization::stored(const Tensor& codes, const std::string& name) const {
  const auto* from = codes.data<std::int8_t>();
  const int limit = nf4() ? 15 : packed() ? 7 : 127, lowest = nf4() ? 0 : packed() ? -8 : -127;
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    if (from[i] >= lowest && from[i] <= limit) continue;
    fail<ValueError>("", "[Variable \"{}\"] codes must be in [{}, {}]; got {}", name, lowest, limit,
                     static_cast<int>(from[i]));
  }
  if (!packed()) return codes.owned();
  const MatrixSizes sizes = matrix();
  const std::int64_t bytes = bytes_of_codes(sizes.columns, 4);
  Tensor out({sizes.rows, bytes}, DType::int8);
  auto* to = out.mutable_data<std::int8_t>();
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    for (std::int64_t column = 0; column < sizes.columns; ++column) {
      const int half = *from++ & 15;
      std::int8_t& pair = to[row * bytes + column / 2];
      pair = static_cast<std::int8_t>(pair | (column % 2 == 0 ? half : half << 4));
    }
  }
  return out;
}

void quantize(VariableState& variable, std::shared_ptr<Quantization> quantization) {
  const Quantization& q = *quantization;
  const Tensor numbers = variable.numbers().cast(DType::float32);
  const auto* x = numbers.data<float>();
  require_finite(x, numbers.size(), variable.name);
  const Shape grouped = grouped_shape(q), shared = shared_axes(q);
  const Grouping groups(grouped, shared, q.block());
  Tensor codes = Tensor::uninitialized(q.shape, DType::int8);
  Tensor scale = Tensor::uninitialized(shape_of_scales(grouped, shared, q.block()), DType::float32);
  if (q.nf4()) {
    quantize_to_nf4(x, groups, scale.mutable_data<float>(), codes.mutable_data<std::int8_t>());
  } else if (q.form.has_zero()) {
    Tensor zero = Tensor::uninitialized(scale.shape(), DType::int8);
    quantize_with_zero(x, groups, scale.mutable_data<float>(), zero.mutable_data<std::int8_t>(),
                       codes.mutable_data<std::int8_t>());
    q.zero->assign(zero);
  } else {
    quantize_symmetric(x, groups, CodeRange<float>::of(q.packed()), scale.mutable_data<float>(),
                       codes.mutable_data<std::int8_t>());
  }
  q.scale->assign(scale);
  variable.store_codes(q.stored(codes, variable.name), std::move(quantization));
}

}  // namespace mezzo::detail
