#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Choice of codes by GPTQ.
struct GptqForm {
  std::int64_t bits = 4;          ///< 4 with blocks and zero points, or 8 without
  std::int64_t block_size = 128;  ///< inputs with one scale and zero point; -1 with 8 bits: all
  double damping = 0.01;          ///< added to the diagonal of the Hessian, as a part of its mean
  bool symmetric = false;         ///< zero points are 0
  bool activation_order = false;  ///< inputs of large magnitude first, with the scales of the given kernel
};

/// Codes int8 (inputs, outputs), with scales and zero points as Quantization describes them.
struct GptqCodes {
  Tensor codes, scale, zero;  ///< zero: undefined with 8 bits
};

/// Codes of a float32 kernel (inputs, outputs) for inputs with this Hessian, float64 (inputs, inputs): algorithm 1 of
/// Frantar et al., 2022, "GPTQ", arXiv 2210.17323. Rounds the row of one input after the other, and changes the rows
/// that follow to reduce the error of the products. The range of a block is that of Keras, and includes 0. Computed in
/// float64. A ValueError for a Hessian that isn't positive definite; `name` is that of the kernel.
MEZZO_API GptqCodes gptq_codes(const Tensor& kernel, const Tensor& hessian, const GptqForm& form,
                               const std::string& name);

}  // namespace mezzo::detail
