#pragma once
#include <mezzo/nn/variable.hpp>

// Products with weights in quantization-aware training.
namespace mezzo::detail {

/// Inputs of a product with the weight, rounded as its FakeQuantization says; else x. In training, moves the observed
/// range of static inputs. A ValueError for training with a learned range that calibrate() has not started.
Value rounded_inputs(const Value& x, const Variable& weight);

/// The same for images of a convolution: without a step, each image has a scale.
Value rounded_images(const Value& x, const Variable& weight);

/// Rounded rows of a table with a FakeQuantization, without rounding the others.
Value rounded_table_rows(const Value& indices, const Variable& table);

}  // namespace mezzo::detail
