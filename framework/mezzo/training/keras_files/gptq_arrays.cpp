#include <mezzo/training/keras_files/gptq_arrays.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>

namespace mezzo::detail {
namespace {

constexpr int offset = 8;  // of codes and zero points in Keras' files

bool has_gptq_codes(const Variable& variable) { return variable.quantized() && variable.state()->quantization->gptq(); }

/// The transposed matrix of numbers.
template <class T, class From>
Tensor transposed(const From* from, std::int64_t rows, std::int64_t columns, DType dtype, int added) {
  Tensor out = Tensor::uninitialized({columns, rows}, dtype);
  auto* const to = out.mutable_data<T>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      to[column * rows + row] = static_cast<T>(*from++ + added);
    }
  }
  return out;
}

/// Columns of a matrix of codes in pairs: the halves of byte (j, row) are the codes of columns 2 j and 2 j + 1.
Tensor packed_columns(const Tensor& codes, std::int64_t rows, std::int64_t columns) {
  Tensor out({(columns + 1) / 2, rows}, DType::uint8);
  const auto* from = codes.data<std::int8_t>();
  auto* const to = out.mutable_data<std::uint8_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const int half = *from++ + offset;
      std::uint8_t& pair = to[column / 2 * rows + row];
      pair = static_cast<std::uint8_t>(pair | (column % 2 == 0 ? half : half << 4));
    }
  }
  return out;
}

Tensor unpacked_columns(const Tensor& pairs, const Shape& shape, std::int64_t rows, std::int64_t columns) {
  Tensor out = Tensor::uninitialized(shape, DType::int8);
  const auto* const from = pairs.data<std::uint8_t>();
  auto* to = out.mutable_data<std::int8_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const int pair = from[column / 2 * rows + row];
      *to++ = static_cast<std::int8_t>((column % 2 == 0 ? pair & 15 : pair >> 4) - offset);
    }
  }
  return out;
}

}  // namespace

bool has_gptq(const std::vector<Variable>& variables) {
  return std::any_of(variables.begin(), variables.end(), has_gptq_codes);
}

void order_gptq(std::vector<Variable>& variables) {
  std::stable_partition(variables.begin(), variables.end(),
                        [](const Variable& one) { return !one.quantized() && !one.state()->of_codes; });
}

void require_gptq_matrix_of_keras(const Variable& kernel, const std::string& where) {
  const Shape& shape = kernel.shape();
  if (shape.size() == 2) return;
  if (shape.size() > 3) {
    fail<ValueError>(where, "Keras has gptq for kernels of 2 and 3 axes; got shape {}; save as .mezzo", shape);
  }
  const bool first = std::max_element(shape.begin(), shape.end()) == shape.begin();
  const std::int64_t rows = first ? shape[0] : shape[0] * shape[1];
  if (rows == kernel.state()->quantization->matrix().rows) return;
  fail<ValueError>(where,
                   "Keras takes a kernel of shape {} under gptq as a matrix with {} inputs, by its largest size; got "
                   "one with {}; save as .mezzo",
                   shape, rows, kernel.state()->quantization->matrix().rows);
}

Shape gptq_shape_in_keras(const Variable& variable) {
  if (!has_gptq_codes(variable)) return {variable.shape()[1], variable.shape()[0]};
  const MatrixSizes sizes = variable.state()->quantization->matrix();
  return {(sizes.columns + 1) / 2, sizes.rows};
}

Tensor gptq_array_for_keras(const Variable& variable) {
  const Tensor numbers = variable.value();
  if (has_gptq_codes(variable)) {
    const MatrixSizes sizes = variable.state()->quantization->matrix();
    return packed_columns(numbers, sizes.rows, sizes.columns);
  }
  const std::int64_t groups = numbers.shape()[0], columns = numbers.shape()[1];
  if (numbers.dtype() == DType::int8) {
    return transposed<std::uint8_t>(numbers.data<std::int8_t>(), groups, columns, DType::uint8, offset);
  }
  return transposed<float>(numbers.data<float>(), groups, columns, DType::float32, 0);
}

Tensor gptq_numbers_of_keras(const Variable& variable, const Tensor& array, const std::string& where) {
  if (has_gptq_codes(variable)) {
    const MatrixSizes sizes = variable.state()->quantization->matrix();
    return unpacked_columns(array.cast(DType::uint8), variable.shape(), sizes.rows, sizes.columns);
  }
  const std::int64_t columns = array.shape()[0], groups = array.shape()[1];
  if (variable.dtype() != DType::int8) {
    const Tensor scale = array.cast(DType::float32);
    return transposed<float>(scale.data<float>(), columns, groups, DType::float32, 0);
  }
  const Tensor zero = array.cast(DType::uint8);
  const auto* const numbers = zero.data<std::uint8_t>();
  const auto* const high = std::find_if(numbers, numbers + zero.size(), [](int number) { return number > 15; });
  if (high != numbers + zero.size()) {
    fail<FileError>(where, "zero points of gptq must be in [0, 15]; got {}", static_cast<int>(*high));
  }
  return transposed<std::int8_t>(zero.data<std::uint8_t>(), columns, groups, DType::int8, -offset);
}

}  // namespace mezzo::detail
