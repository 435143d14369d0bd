#include <mezzo/training/keras_files/quantized_arrays.hpp>

#include <algorithm>

#include <mezzo/graph/codes.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/training/keras_files/gptq_arrays.hpp>

namespace mezzo::detail {
namespace {

/// Rows of a matrix of 4-bit codes in pairs: row 2 j in the low halves, row 2 j + 1 in the high halves of row j.
Tensor packed_rows(const Tensor& codes) {
  const std::int64_t rows = codes.shape()[0], columns = codes.shape()[1];
  Tensor out({(rows + 1) / 2, columns}, DType::int8);
  const auto* from = codes.data<std::int8_t>();
  auto* to = out.mutable_data<std::int8_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const int half = *from++ & 15;
      std::int8_t& pair = to[row / 2 * columns + column];
      pair = static_cast<std::int8_t>(pair | (row % 2 == 0 ? half : half << 4));
    }
  }
  return out;
}

Tensor unpacked_rows(const Tensor& pairs, std::int64_t rows) {
  const std::int64_t columns = pairs.shape()[1];
  Tensor out = Tensor::uninitialized({rows, columns}, DType::int8);
  const auto* from = pairs.data<std::int8_t>();
  auto* to = out.mutable_data<std::int8_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const int pair = static_cast<std::uint8_t>(from[row / 2 * columns + column]);
      const int half = row % 2 == 0 ? pair & 15 : pair >> 4;
      *to++ = static_cast<std::int8_t>(half < 8 ? half : half - 16);
    }
  }
  return out;
}

bool is_int4(const Variable& variable) { return variable.quantized() && variable.state()->quantization->packed(); }

bool has_rows_in_pairs(const Shape& array, const Variable& variable) {
  return is_int4(variable) && array != variable.state()->value.shape();
}

}  // namespace

bool is_untied_table(const KerasWeights& layer) {
  const auto count = std::count_if(layer.variables.begin(), layer.variables.end(),
                                   [](const Variable& one) { return one.quantized(); });
  return layer.class_name == "ReversibleEmbedding" && count > 1;
}

void order_untied_table(std::vector<Variable>& variables) {
  std::vector<Variable> out;
  const auto add = [&](const VariableState* state) {
    const auto found =
        std::find_if(variables.begin(), variables.end(), [&](const Variable& one) { return one.id() == state; });
    if (found != variables.end()) out.push_back(*found);
  };
  for (const Variable& variable : variables) {
    if (!variable.quantized()) continue;
    add(variable.state().get());
    add(variable.state()->quantization->scale.get());
    add(variable.state()->quantization->zero.get());
  }
  if (out.size() == variables.size()) variables = std::move(out);
}

std::int64_t block_of(const KerasWeights& layer) {
  for (const Variable& variable : layer.variables) {
    if (variable.quantized() && variable.state()->quantization->block() > 0) {
      return variable.state()->quantization->block();
    }
  }
  return 0;
}

std::size_t place_of_block_numbers(const KerasWeights& layer) {
  constexpr std::size_t behind_table = 3;  // the table, its scales and zero points
  return is_untied_table(layer) ? behind_table : layer.variables.size();
}

std::size_t place_of_array(const KerasWeights& layer, std::size_t variable) {
  return variable + (block_of(layer) > 0 && variable >= place_of_block_numbers(layer) ? 1 : 0);
}

Tensor block_numbers(const KerasWeights& layer) {
  const std::int64_t block = block_of(layer);
  std::vector<double> numbers;
  for (const Variable& variable : layer.variables) {
    if (!variable.quantized() || !numbers.empty()) continue;
    const MatrixSizes sizes = variable.state()->quantization->matrix();
    const std::int64_t count = variable.state()->quantization->axes.table ? sizes.columns : sizes.rows;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = i / block;
      numbers.push_back(static_cast<double>(place));
    }
  }
  return Tensor({static_cast<std::int64_t>(numbers.size())}, numbers).cast(DType::float32);
}

Shape shape_in_keras(const KerasWeights& layer, const Variable& variable) {
  const VariableState& state = *variable.state();
  if (layer.is_gptq && (state.quantization || state.of_codes)) return gptq_shape_in_keras(variable);
  Shape shape = state.quantization ? state.value.shape() : variable.shape();
  if (is_untied_table(layer) && is_int4(variable) && !state.quantization->axes.table) {
    const Shape& numbers = variable.shape();
    return {(numbers[0] + 1) / 2, numbers[1]};
  }
  const bool of_einsum = layer.class_name == "EinsumDense" || layer.class_name == "HeadProjection";
  if (!of_einsum || !state.of_codes || block_of(layer) > 0 || !layer.is_int8) return shape;
  if (layer.output_axes > shape.size()) shape.insert(shape.begin(), layer.output_axes - shape.size(), 1);
  return shape;
}

Tensor array_for_keras(const KerasWeights& layer, const Variable& variable, const Tensor& numbers) {
  if (layer.is_gptq && (variable.quantized() || variable.state()->of_codes)) return gptq_array_for_keras(variable);
  const Shape shape = shape_in_keras(layer, variable);
  if (has_rows_in_pairs(shape, variable)) return packed_rows(variable.state()->quantization->codes(numbers));
  // Keras keeps the zero points of the reverse weight, the last ones, as floats.
  const bool of_reverse = is_untied_table(layer) && variable.state()->of_codes && variable.dtype() == DType::int8 &&
                          variable.id() == layer.variables.back().id();
  return (of_reverse ? numbers.cast(DType::float32) : numbers).reshape(shape);
}

Tensor codes_of_keras(const Variable& variable, const Tensor& array) {
  const VariableState& state = *variable.state();
  const Tensor codes = array.cast(DType::int8);
  const Quantization& form = *state.quantization;
  const bool in_pairs = variable.shape().size() == 2 && !form.axes.table &&
                        has_rows_in_pairs(codes.shape(), variable) &&
                        codes.shape() == Shape{(variable.shape()[0] + 1) / 2, variable.shape()[1]};
  if (in_pairs) return unpacked_rows(codes, variable.shape()[0]);
  return form.codes(codes.reshape(state.value.shape()));
}

}  // namespace mezzo::detail
