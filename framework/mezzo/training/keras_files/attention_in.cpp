#include <mezzo/training/keras_files/attention_in.hpp>

#include <algorithm>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/quantize_layers.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/training/keras_files/weight_paths.hpp>

namespace mezzo::detail {
namespace {

/// Form of a projection in a file: gptq, if uint8 codes follow the bias, then scales, zero points and the number of the
/// group of each input.
std::optional<QuantizedForm> gptq_in_file(const KerasWeights& layer, const Hdf5File& file) {
  const auto path = [&](std::size_t i) { return fmt::format("{}/vars/{}", layer.group, i); };
  const std::size_t codes = layer.variables.size() - 1, groups = codes + 3;
  const Hdf5Array* const array = file.find(path(codes));
  if (array == nullptr || array->dtype != DType::uint8 || file.find(path(groups)) == nullptr) return {};
  const std::vector<double> numbers = file.read(path(groups)).to_doubles();
  const auto first = std::count_if(numbers.begin(), numbers.end(), [](double number) { return number < 1; });
  const bool one = first == static_cast<std::ptrdiff_t>(numbers.size());
  if (first == 0) return {};
  return quantized_form(one ? "gptq/4/-1" : fmt::format("gptq/4/{}", first), -1, layer.layer);
}

/// Form of a projection in a file; nothing for floats. Arrays of 4 bits: codes, perhaps a bias, scales, and with blocks
/// zero points and the number of the block of each row. Of float8: floats, perhaps a bias, and a scale and a history
/// for each of three arrays.
std::optional<QuantizedForm> form_in_file(const KerasWeights& layer, const Hdf5File& file) {
  const auto array = [&](std::size_t i) { return file.find(fmt::format("{}/vars/{}", layer.group, i)); };
  const Hdf5Array* const codes = array(0);
  if (codes == nullptr || layer.variables.empty() || !can_be_quantized(layer.variables.front())) return {};
  const Hdf5Array *const scale = array(layer.variables.size()), *const history = array(layer.variables.size() + 1);
  if (scale != nullptr && history != nullptr && scale->shape.empty() && history->shape.size() == 1) {
    return quantized_form("float8", -1, layer.layer);
  }
  if (codes->dtype != DType::int8) return gptq_in_file(layer, file);
  const std::size_t scales = layer.variables.size();
  if (codes->shape == layer.variables.front().shape()) return quantized_form("int8", -1, layer.layer);
  const Hdf5Array* const blocks = array(scales + 2);
  if (blocks == nullptr) return quantized_form("int4/-1", -1, layer.layer);
  const std::vector<double> places = file.read(fmt::format("{}/vars/{}", layer.group, scales + 2)).to_doubles();
  const auto first = std::count(places.begin(), places.end(), 0.0);
  if (first == 0) return {};  // the shapes of the scales are refused
  return quantized_form(fmt::format("int4/{}", first), -1, layer.layer);
}

}  // namespace

void quantize_attention_of_file(LayerState& model, const Hdf5File& file) {
  const std::vector<KerasWeights> weights = keras_weights(model, LayerListing::as_declared);
  for (const LayerWithPolicy& place : layers_with_policies(model)) {
    if (!has_projections(place.layer->kind)) continue;
    if (place.policy.quantization_mode() != QuantizationMode::none || place.policy.by_op() != nullptr) continue;
    std::optional<QuantizedForm> form;
    for (const auto& child : place.layer->children) {
      const auto found = std::find_if(weights.begin(), weights.end(), [&](const KerasWeights& one) {
        return !child.second->weights.empty() && !one.variables.empty() &&
               one.variables.front().id() == child.second->weights.front().id();
      });
      const std::optional<QuantizedForm> of_child = found == weights.end() ? std::nullopt : form_in_file(*found, file);
      if (!of_child) continue;
      form = of_child;
      quantize_own_weights(*child.second, *of_child);
      child.second->policy = fmt::format("{}_from_{}", of_child->name(), place.policy.name());
    }
    if (form) place.layer->policy = fmt::format("{}_from_{}", form->name(), place.policy.name());
  }
}

}  // namespace mezzo::detail
