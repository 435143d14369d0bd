#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/nn/variable.hpp>
#include <mezzo/training/keras_files/weight_paths.hpp>

// Arrays of quantized layers in Keras' files.
namespace mezzo::detail {

/// True if the layer is an untied ReversibleEmbedding with quantized weights: its arrays have an order and packing of
/// their own.
bool is_untied_table(const KerasWeights& layer);

/// Moves the scales and zero points of an untied table before the reverse weight, as Keras has them.
void order_untied_table(std::vector<Variable>& variables);

/// Block size of a layer's int4 weights, for which Keras has one array more: the number of the block of each row. 0
/// without blocks.
std::int64_t block_of(const KerasWeights& layer);

/// Place of that array among the layer's arrays.
std::size_t place_of_block_numbers(const KerasWeights& layer);

/// Place of a variable's array among the layer's arrays.
std::size_t place_of_array(const KerasWeights& layer, std::size_t variable);

/// Numbers of the blocks, float32.
Tensor block_numbers(const KerasWeights& layer);

/// Shape of a variable's array: scales of an EinsumDense have the axes of its outputs, an untied reverse weight of 4
/// bits is packed along its rows.
Shape shape_in_keras(const KerasWeights& layer, const Variable& variable);

/// The array of a variable in that shape.
Tensor array_for_keras(const KerasWeights& layer, const Variable& variable, const Tensor& numbers);

/// Codes in the weight's shape of an array of codes.
Tensor codes_of_keras(const Variable& variable, const Tensor& array);

}  // namespace mezzo::detail
