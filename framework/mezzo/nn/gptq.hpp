#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Options of `model.quantize("gptq", config)`, with Keras' names. Keras' 2 and 3 bits are absent: no product here
/// stores them in less memory than 4.
struct GPTQConfig {
  /// Representative inputs. Batches of the model's input, (samples, ...); or tokens, as integer arrays of one axis,
  /// which are joined and cut into windows. Required; a model with several inputs is for quantize_gptq().
  std::vector<Tensor> dataset{};
  /// 4, or 8. Codes of 8 bits have one scale for each output and no zero point: they need group_size = -1 and
  /// symmetric.
  std::int64_t weight_bits = 4;
  /// Samples that are used: the first ones of batches, or windows of tokens, spread evenly over them.
  std::int64_t num_samples = 128;
  std::int64_t sequence_length = 512;  ///< Tokens of a window. Windows overlap if there are few tokens.
  double hessian_damping = 0.01;       ///< Added to the diagonal of the Hessian, as a part of its mean. In [0, 1].
  std::int64_t group_size = 128;       ///< Consecutive inputs with one scale and zero point; -1: all inputs.
  bool symmetric = false;              ///< True: the range of a group is symmetric, and zero points are 0.
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
/// chosen so that the products with the inputs of these calls change least, not the kernel. This is
/// `layer.quantize("gptq", config)` for layers with several inputs: `run` calls the layer on representative batches,
/// outside of steps:
///
///     quantize_gptq(model, [&] { model(Values{ids, mask}, {.training = false}); });
///
/// Blocks are quantized one after the other, in the order in which they are called, and `run` is called for each: the
/// inputs of a block come from the quantized ones before it. A block is the layer nearest to the root that has a
/// sibling of its class with such kernels, as blocks of a transformer and layers of a Sequential have; without such
/// layers it is the layer of the kernel.
///
/// The layers get policies such as "gptq/4/128_from_float32"; with 8 bits "int8_from_float32". Needs the squares of the
/// numbers of inputs of the kernels of a block in float64, and the floats of all these kernels until it returns.
///
/// A ValueError if there is no such kernel, `run` reached one of them with no input, inputs have NaN or infinity, the
/// config has a dataset, num_samples or sequence_length, or the layers have adapters or are quantized or prepared by
/// quantize("fake_..."); no weight changes then.
template <class Run, std::enable_if_t<std::is_invocable_v<const Run&>, int> = 0>
void quantize_gptq(Layer& layer, const Run& run, const GPTQConfig& config = {}) {
  detail::quantize_gptq_by(layer, run, config);
}

}  // namespace mezzo
