#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Options of quantize_gptq(), with Keras' names. Keras' 2 and 3 bits are absent: no product here stores them in less
/// memory than 4.
struct GPTQConfig {
  /// 4, or 8. Codes of 8 bits have one scale for each output and no zero point: they need group_size = -1 and
  /// symmetric.
  std::int64_t weight_bits = 4;
  double hessian_damping = 0.01;  ///< Added to the diagonal of the Hessian, as a part of its mean. In [0, 1].
  std::int64_t group_size = 128;  ///< Consecutive inputs with one scale and zero point; -1: all inputs.
  bool symmetric = false;         ///< True: the range of a group is symmetric, and zero points are 0.
  /// True: inputs of large magnitude are rounded first. Groups stay those of consecutive inputs, with the scales of the
  /// floating kernel; Keras groups inputs in the order of rounding.
  bool activation_order = false;
  /// Regular expression for whole paths of layers, as in QuantizeOptions. "": all Dense, EinsumDense and projections of
  /// attention layers.
  std::string filters{};
};

namespace detail {
MEZZO_API void quantize_gptq_by(Layer& layer, const std::function<void()>& run, const GPTQConfig& config);
}  // namespace detail

/// Quantizes the kernels of a layer and its sub-layers by GPTQ (Frantar et al., 2022, arXiv 2210.17323): codes are
/// chosen so that the products with the inputs of these calls change least, not the kernel. `run` calls the layer on
/// representative batches, outside of steps:
///
///     quantize_gptq(model, [&] { for (const Tensor& x : batches) model(x, {.training = false}); });
///
/// The result has the form of quantize("int4/128"), or "int8": its products, files and policy. With group_size = -1 the
/// form of a kernel with 64 inputs is int4/64. Needs the squares of the numbers of inputs of all kernels in memory, in
/// float64.
///
/// A ValueError if there is no such kernel, `run` reached one of them with no input, inputs have NaN or infinity, or
/// the layers have adapters or are quantized or prepared by quantize("fake_..."); no weight changes then.
template <class Run, std::enable_if_t<std::is_invocable_v<const Run&>, int> = 0>
void quantize_gptq(Layer& layer, const Run& run, const GPTQConfig& config = {}) {
  detail::quantize_gptq_by(layer, run, config);
}

/// The same with batches of a layer with one input.
MEZZO_API void quantize_gptq(Layer& layer, const std::vector<Tensor>& batches, const GPTQConfig& config = {});

}  // namespace mezzo
