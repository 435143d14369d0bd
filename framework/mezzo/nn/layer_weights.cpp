#include <mezzo/core/fail.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/new_numbers.hpp>
#include <mezzo/nn/quantize_layers.hpp>
#include <mezzo/nn/weight_access.hpp>

// Weights of a layer and its sub-layers.
namespace mezzo {
namespace {

/// Throws for arrays that the weights can't take, before the first one is assigned.
void require_new_numbers(const std::vector<std::pair<std::string, Variable>>& weights,
                         const std::vector<Tensor>& arrays, const std::string& label) {
  std::vector<Variable> variables;
  for (const auto& weight : weights) variables.push_back(weight.second);
  const detail::NewNumbers checks(variables);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto& [path, weight] = weights[i];
    weight.state()->require_unmerged();
    if (weight.quantized() && arrays[i].dtype() != DType::int8) {
      // Its new scales would be replaced by those of a later array.
      fail<DTypeError>(label,
                       "set_weights: array {} must be int8 codes ({} is quantized, and its scales are among the "
                       "arrays); got {}: assign() of the weight quantizes floats",
                       i, path, arrays[i].dtype());
    }
    if (!checks.restricts(weight)) continue;
    const std::string fault = checks.fault(weight, arrays[i].cast(weight.dtype()));
    if (!fault.empty()) fail<ValueError>(label, "set_weights: array {} ({}) {}", i, path, fault);
  }
}

}  // namespace

std::vector<std::pair<std::string, Variable>> Layer::named_weights() const {
  std::vector<std::pair<std::string, Variable>> out;
  for (const detail::WeightPolicy& weight : detail::weight_policies(*this, {}))
    out.emplace_back(weight.path, weight.variable);
  return out;
}

std::vector<Variable> Layer::weights() const {
  std::vector<Variable> out;
  for (const detail::WeightPolicy& weight : detail::weight_policies(*this, {})) out.push_back(weight.variable);
  return out;
}

std::vector<Variable> Layer::trainable_weights() const {
  std::vector<Variable> out;
  for (const detail::WeightPolicy& weight : detail::weight_policies(*this, {})) {
    if (weight.trainable) out.push_back(weight.variable);
  }
  return out;
}

std::vector<Variable> Layer::non_trainable_weights() const {
  std::vector<Variable> out;
  for (const detail::WeightPolicy& weight : detail::weight_policies(*this, {})) {
    if (!weight.trainable) out.push_back(weight.variable);
  }
  return out;
}

std::int64_t Layer::count_params() const {
  const std::vector<Variable> all = weights();
  if (all.empty() && !built_ && !state_->called) {
    fail<ValueError>(label(), "count_params: the layer must be built; got one that was never called");
  }
  std::int64_t count = 0;
  for (const Variable& weight : all) count += element_count(weight.shape());
  return count;
}

std::vector<Tensor> Layer::get_weights() const {
  const std::vector<Variable> all = weights();
  const detail::WeightAccess access(all, label(), "get_weights");
  std::vector<Tensor> out;
  for (const Variable& weight : all) out.push_back(weight.value());
  return out;
}

void Layer::quantize(const std::string& mode, const QuantizeOptions& options) {
  const detail::WeightAccess access(weights(), label(), "quantize");
  detail::quantize_layers(*state_, mode, options, label());
}

void Layer::set_weights(const std::vector<Tensor>& arrays) {
  const auto all = named_weights();
  if (arrays.size() != all.size()) {
    fail<ValueError>(label(), "set_weights: number of arrays must be {}; got {}{}", all.size(), arrays.size(),
                     all.empty() ? " (the layer has no weights before it is built)" : "");
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].shape() == all[i].second.shape()) continue;
    fail<ShapeError>(label(), "set_weights: array {} must have shape {} ({}); got shape {}", i, all[i].second.shape(),
                     all[i].first, arrays[i].shape());
  }
  const detail::WeightAccess access(weights(), label(), "set_weights");
  require_new_numbers(all, arrays, label());
  for (std::size_t i = 0; i < arrays.size(); ++i) all[i].second.assign(arrays[i]);
}

void Layer::enable_lora(const LoraOptions& options) { detail::enable_lora(*this, options, label()); }

void Layer::enable_lora(std::int64_t rank, LoraOptions options) {
  if (options.rank != 0 && options.rank != rank) {
    fail<ValueError>(label() + " enable_lora:", "rank is given twice; got {} and {}", rank, options.rank);
  }
  options.rank = rank;
  enable_lora(options);
}

}  // namespace mezzo
