#include <mezzo/nn/gptq.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/gptq_codes.hpp>
#include <mezzo/nn/input_products.hpp>
#include <mezzo/nn/quantize_layers.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/nn/weight_access.hpp>

namespace mezzo {
namespace {

constexpr const char* gptq_label = "[quantize_gptq]";

/// A kernel to quantize.
struct GptqKernel {
  detail::LayerState* layer;
  std::string path;    ///< of the kernel
  std::string policy;  ///< name of the layer's policy
  Variable weight;
};

void require_known_config(const GPTQConfig& config) {
  if (config.weight_bits != 4 && config.weight_bits != 8) {
    fail<ValueError>(gptq_label, "weight_bits must be 4 or 8; got {}", config.weight_bits);
  }
  if (config.group_size == 0 || config.group_size < -1) {
    fail<ValueError>(gptq_label, "group_size must be positive, or -1 for all inputs; got {}", config.group_size);
  }
  if (!(config.hessian_damping >= 0 && config.hessian_damping <= 1)) {
    fail<ValueError>(gptq_label, "hessian_damping must be in [0, 1]; got {}", config.hessian_damping);
  }
  if (config.weight_bits == 8 && (config.group_size != -1 || !config.symmetric)) {
    fail<ValueError>(gptq_label,
                     "weight_bits = 8 needs group_size = -1 and symmetric = true, since codes of 8 bits have one scale "
                     "for each output; got group_size = {} and symmetric = {}",
                     config.group_size, config.symmetric);
  }
}

detail::QuantizedForm form_for(const GPTQConfig& config, std::int64_t inputs) {
  if (config.weight_bits == 8) return detail::quantized_form("int8", -1, gptq_label);
  return detail::quantized_form("int4", config.group_size > 0 ? config.group_size : inputs, gptq_label);
}

/// True for a layer whose products collect their inputs, with a kernel whose first axes they sum over.
bool has_gptq_kernel(const detail::LayerState& layer) {
  if (layer.kind != "Dense" && layer.kind != "EinsumDense") return false;  // projections are of this kind, too
  return std::all_of(layer.weights.begin(), layer.weights.end(), [](const Variable& weight) {
    const Shape& inputs = weight.state()->quantizable.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != static_cast<std::int64_t>(i)) return false;
    }
    return true;
  });
}

std::vector<GptqKernel> gptq_kernels(detail::LayerState& root, const GPTQConfig& config) {
  std::vector<GptqKernel> out;
  for (const detail::LayerWithPolicy& place :
       detail::layers_to_quantize(root, form_for(config, 1), {.filters = config.filters}, gptq_label)) {
    const std::string name = fmt::format("{} \"{}\"", place.layer->kind, place.path);
    if (!has_gptq_kernel(*place.layer)) {
      if (config.filters.empty()) continue;
      fail<ValueError>(gptq_label,
                       "layers must be Dense, EinsumDense with a kernel that begins with the axes of the sum, or "
                       "projections of attention; got {}",
                       name);
    }
    if (detail::adapters_of(*place.layer) != nullptr) {
      fail<ValueError>(gptq_label, "layers must have no adapters; got those of {}", name);
    }
    if (detail::fake_form_of(*place.layer)) {
      fail<ValueError>(gptq_label, "layers must not be prepared for another form; got {}", name);
    }
    for (const Variable& weight : place.layer->weights) {
      if (!detail::can_be_quantized(weight)) continue;
      out.push_back({place.layer, place.path.empty() ? weight.name() : place.path + "/" + weight.name(),
                     place.policy.source().name(), weight});
    }
  }
  if (out.empty()) {
    fail<ValueError>(gptq_label, "needs a Dense, EinsumDense or attention layer; found none");
  }
  return out;
}

/// Codes in the shape of the kernel.
detail::GptqCodes codes_of(const GptqKernel& kernel, const GPTQConfig& config, const detail::InputProducts& products) {
  const detail::VariableState& state = *kernel.weight.state();
  const detail::MatrixSizes sizes = detail::matrix_sizes(state.shape(), state.quantizable);
  Tensor hessian = products.sum;
  auto* const numbers = hessian.mutable_data<double>();
  for (std::int64_t i = 0; i < hessian.size(); ++i) numbers[i] *= 2 / static_cast<double>(products.rows);
  const Tensor matrix = state.numbers().cast(DType::float32).reshape({sizes.rows, sizes.columns});
  const detail::GptqForm form{.bits = config.weight_bits,
                              .block_size = form_for(config, sizes.rows).block_size,
                              .damping = config.hessian_damping,
                              .symmetric = config.symmetric,
                              .activation_order = config.activation_order};
  detail::GptqCodes out = detail::gptq_codes(matrix, hessian, form, kernel.path);
  out.codes = out.codes.reshape(state.shape());
  return out;
}

void store(const GptqKernel& kernel, const GPTQConfig& config, const detail::GptqCodes& codes) {
  detail::VariableState& state = *kernel.weight.state();
  const detail::QuantizedForm form = form_for(config, detail::matrix_sizes(state.shape(), state.quantizable).rows);
  detail::quantize_weight(*kernel.layer, kernel.weight, form);
  detail::Quantization& quantization = *state.quantization;
  quantization.scale->assign(codes.scale.reshape(quantization.scale->shape()));
  if (form.has_zero()) quantization.zero->assign(codes.zero);
  state.assign(codes.codes);
  kernel.layer->policy = fmt::format("{}_from_{}", form.name(), kernel.policy);
  kernel.layer->last_policy = kernel.layer->policy;
}

}  // namespace

void detail::quantize_gptq_by(Layer& layer, const std::function<void()>& run, const GPTQConfig& config) {
  require_known_config(config);
  const std::vector<GptqKernel> kernels = gptq_kernels(*layer.state(), config);
  ProductsOfKernels sums;
  for (const GptqKernel& kernel : kernels) sums[kernel.weight.state().get()] = {};
  add_input_products(sums, run);
  for (const GptqKernel& kernel : kernels) {
    if (sums.at(kernel.weight.state().get()).rows > 0) continue;
    fail<ValueError>(gptq_label,
                     "run must call the layer of {} for a product, outside of steps; it got no input (leave it out by "
                     "filters)",
                     kernel.path);
  }
  const WeightAccess access(layer.weights(), gptq_label, "quantize");
  std::vector<GptqCodes> codes;
  for (const GptqKernel& kernel : kernels) {
    InputProducts& products = sums.at(kernel.weight.state().get());
    codes.push_back(codes_of(kernel, config, products));
    products.sum = {};
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) store(kernels[i], config, codes[i]);
  quantize_policies_of_attention(*layer.state(), form_for(config, 1));
}

void quantize_gptq(Layer& layer, const std::vector<Tensor>& batches, const GPTQConfig& config) {
  quantize_gptq(
      layer,
      [&] {
        for (const Tensor& batch : batches) layer(Value(batch), {.training = false});
      },
      config);
}

}  // namespace mezzo
