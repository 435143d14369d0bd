#include <mezzo/nn/gptq.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/gptq_codes.hpp>
#include <mezzo/nn/gptq_dataset.hpp>
#include <mezzo/nn/input_products.hpp>
#include <mezzo/nn/quantize_layers.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/nn/weight_access.hpp>

namespace mezzo {
namespace {

constexpr const char* gptq_label = "[quantize gptq]";

using Runs = std::vector<std::function<void()>>;

/// A kernel to quantize.
struct GptqKernel {
  detail::LayerState* layer;
  std::string path;    ///< of the kernel
  std::string policy;  ///< name of the layer's policy
  Variable weight;
  std::size_t block = 0;  ///< number of its block
};

/// Weights and policies that quantization changes, to go back to them after an error.
class KeptFloats {
 public:
  void keep(const GptqKernel& kernel) {
    const detail::VariableState& state = *kernel.weight.state();
    all_.push_back({kernel.layer, kernel.weight, kernel.layer->weights, kernel.layer->policy, kernel.layer->last_policy,
                    state.value, state.remainder, state.trainable});
  }

  void restore() {
    for (auto one = all_.rbegin(); one != all_.rend(); ++one) {
      detail::VariableState& state = *one->weight.state();
      state.value = one->value;
      state.remainder = one->remainder;
      state.trainable = one->trainable;
      state.quantization.reset();
      ++state.version;
      one->layer->weights = one->weights;
      one->layer->policy = one->policy;
      one->layer->last_policy = one->last_policy;
    }
  }

 private:
  struct Kept {
    detail::LayerState* layer;
    Variable weight;
    std::vector<Variable> weights;
    Policy policy, last_policy;
    Tensor value;
    std::shared_ptr<detail::VariableState> remainder;
    bool trainable;
  };
  std::vector<Kept> all_{};
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

detail::QuantizedForm form_for(const GPTQConfig& config) {
  if (config.weight_bits == 8) return detail::quantized_form("int8", -1, gptq_label);
  return detail::quantized_form(fmt::format("gptq/4/{}", config.group_size), -1, gptq_label);
}

/// Gives the layers from `layer` on the paths of their blocks: of the layer nearest to the root that has a sibling of
/// its class with such kernels, else the layer itself.
class BlockPaths {
 public:
  BlockPaths(const detail::LayerState& root, const std::vector<GptqKernel>& kernels) {
    for (const GptqKernel& kernel : kernels) with_kernels_.insert(kernel.layer);
    visit(root, "", nullptr);
  }

  const std::string& of(const detail::LayerState& layer) const { return paths_.at(&layer); }

 private:
  bool holds_kernel(const detail::LayerState& layer) const {
    return with_kernels_.count(&layer) > 0 ||
           std::any_of(layer.children.begin(), layer.children.end(),
                       [&](const auto& child) { return holds_kernel(*child.second); });
  }

  void visit(const detail::LayerState& layer, const std::string& path, const std::string* block) {
    if (!paths_.emplace(&layer, block != nullptr ? *block : path).second) return;
    for (const auto& [name, child] : layer.children) {
      const detail::LayerState* const one = child.get();
      const bool repeated = std::any_of(layer.children.begin(), layer.children.end(), [&](const auto& other) {
        return other.second.get() != one && other.second->kind == one->kind && holds_kernel(*other.second);
      });
      const std::string below = path.empty() ? name : path + "/" + name;
      visit(*child, below, block != nullptr ? block : repeated ? &below : nullptr);
    }
  }

  std::set<const detail::LayerState*> with_kernels_{};
  std::map<const detail::LayerState*, std::string> paths_{};
};

void set_blocks(const detail::LayerState& root, std::vector<GptqKernel>& kernels) {
  const BlockPaths paths(root, kernels);
  std::map<std::string, std::size_t> numbers;
  for (GptqKernel& kernel : kernels) {
    kernel.block = numbers.emplace(paths.of(*kernel.layer), numbers.size()).first->second;
  }
}

std::vector<GptqKernel> gptq_kernels(detail::LayerState& root, const GPTQConfig& config) {
  std::vector<GptqKernel> out;
  for (const detail::LayerWithPolicy& place :
       detail::layers_to_quantize(root, form_for(config), {.filters = config.filters}, gptq_label)) {
    const std::string name = fmt::format("{} \"{}\"", place.layer->kind, place.path);
    if (!detail::takes_gptq(*place.layer)) {
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
  set_blocks(root, out);
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
                              .block_size = config.weight_bits == 8 ? -1
                                            : config.group_size > 0 ? config.group_size
                                                                    : sizes.rows,
                              .damping = config.hessian_damping,
                              .symmetric = config.symmetric,
                              .activation_order = config.activation_order};
  detail::GptqCodes out = detail::gptq_codes(matrix, hessian, form, kernel.path);
  out.codes = out.codes.reshape(state.shape());
  return out;
}

void store(const GptqKernel& kernel, const GPTQConfig& config, const detail::GptqCodes& codes) {
  detail::VariableState& state = *kernel.weight.state();
  const detail::QuantizedForm form = form_for(config);
  detail::quantize_weight(*kernel.layer, kernel.weight, form);
  detail::Quantization& quantization = *state.quantization;
  quantization.scale->assign(codes.scale.reshape(quantization.scale->shape()));
  if (form.has_zero()) quantization.zero->assign(codes.zero);
  state.assign(codes.codes);
  kernel.layer->policy = fmt::format("{}_from_{}", form.name(), kernel.policy);
  kernel.layer->last_policy = kernel.layer->policy;
}

[[noreturn]] void fail_without_inputs(const GptqKernel& kernel) {
  fail<ValueError>(gptq_label,
                   "run must call the layer of {} for a product, outside of steps; it got no input (leave it out by "
                   "filters)",
                   kernel.path);
}

/// Quantizes the kernels of a block, whose inputs are added.
void quantize_block(const std::vector<GptqKernel>& kernels, std::size_t block, const GPTQConfig& config,
                    const detail::InputSums& sums, KeptFloats& floats) {
  for (const GptqKernel& kernel : kernels) {
    if (kernel.block != block) continue;
    const detail::InputProducts& products = sums.of(*kernel.weight.state());
    if (products.rows == 0) fail_without_inputs(kernel);
    const detail::GptqCodes codes = codes_of(kernel, config, products);
    floats.keep(kernel);
    store(kernel, config, codes);
  }
}

/// Throws for kernels in blocks that no run has reached.
void require_inputs(const std::vector<GptqKernel>& kernels, const detail::InputSums& sums) {
  for (const GptqKernel& kernel : kernels) {
    const bool reached = std::find(sums.order().begin(), sums.order().end(), kernel.block) != sums.order().end();
    if (!reached) fail_without_inputs(kernel);
  }
}

/// `stops`: runs can end before they have called all layers.
void quantize_blocks(Layer& layer, const Runs& runs, const GPTQConfig& config, bool stops) {
  require_known_config(config);
  const std::vector<GptqKernel> kernels = gptq_kernels(*layer.state(), config);
  std::map<const detail::VariableState*, std::size_t> blocks;
  for (const GptqKernel& kernel : kernels) blocks[kernel.weight.state().get()] = kernel.block;
  detail::InputSums sums(std::move(blocks));
  sums.add(runs, {}, false);
  require_inputs(kernels, sums);
  const std::vector<std::size_t> order = sums.order();
  KeptFloats floats;
  try {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) sums.add(runs, order[i], stops);
      const detail::WeightAccess access(layer.weights(), gptq_label, "quantize");
      quantize_block(kernels, order[i], config, sums, floats);
    }
  } catch (...) {
    floats.restore();
    throw;
  }
  detail::quantize_policies_of_attention(*layer.state(), form_for(config));
}

}  // namespace

void detail::quantize_gptq_by(Layer& layer, const std::function<void()>& run, const GPTQConfig& config) {
  if (!config.dataset.empty()) {
    fail<ValueError>(gptq_label, "dataset must be empty, since run has the inputs; got {} arrays",
                     config.dataset.size());
  }
  const GPTQConfig defaults;
  if (config.num_samples != defaults.num_samples || config.sequence_length != defaults.sequence_length) {
    fail<ValueError>(gptq_label, "num_samples and sequence_length are for a dataset; run has the inputs");
  }
  quantize_blocks(layer, {run}, config, false);
}

void detail::quantize_by_gptq(Layer& layer, const std::string& mode, const GPTQConfig& config) {
  if (mode != "gptq") fail<ValueError>(gptq_label, "a GPTQConfig is for the mode \"gptq\"; got \"{}\"", mode);
  Runs runs;
  for (const Tensor& batch : gptq_batches(config, gptq_label)) {
    runs.push_back([&layer, batch] { layer(Value(batch), {.training = false}); });
  }
  quantize_blocks(layer, runs, config, true);
}

}  // namespace mezzo
