#include <algorithm>
#include <any>
#include <iostream>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/int8_scale.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/image_codes.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/nn/weight_product.hpp>
#include <mezzo/ops/kernel_convolution.hpp>
#include <mezzo/precision/policy_map.hpp>
#include <mezzo/training/model/model.hpp>
#include <mezzo/training/profilers/plan_text.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo {
namespace {

using detail::bytes_text;
using detail::count_text;

const std::vector<detail::TextColumn> columns{
    {"Layer (type)"},  {"Path"},        {"Output shape"}, {"Compute"},           {"Variables"},
    {"Param #", true}, {"Bytes", true}, {"States", true}, {"Activations", true}, {"Trainable"}};

/// A count of numbers and their bytes.
struct ParameterSize {
  std::int64_t count = 0;
  std::size_t bytes = 0;
  void add(const detail::VariableState& variable) {
    count += element_count(variable.shape());
    bytes += variable.value.bytes() + (variable.remainder ? variable.remainder->value.bytes() : 0);
  }
  std::string text() const { return fmt::format("{} ({})", count_text(count), bytes_text(bytes)); }
};

std::string dtypes_of(const std::vector<Variable>& weights) {
  std::vector<DType> dtypes;
  for (const Variable& weight : weights) {
    if (std::find(dtypes.begin(), dtypes.end(), weight.dtype()) == dtypes.end()) dtypes.push_back(weight.dtype());
  }
  return dtypes.empty() ? "-" : fmt::format("{}", fmt::join(dtypes, ", "));
}

/// Windows of an image in the last call of a convolution. If they aren't known, as many as products of int8 need.
std::int64_t windows_of(const std::optional<Shape>& output) {
  if (!output || output->size() != 4 || (*output)[1] < 0 || (*output)[2] < 0) return detail::fewest_int8_windows;
  return (*output)[1] * (*output)[2];
}

/// True if the layer multiplies inputs with the weight by weight_product() or table_product(), in int8 if a policy says
/// so.
bool multiplies_rows(const detail::LayerState& layer, const Variable& weight) {
  const detail::QuantizableAxes& axes = weight.state()->quantizable;
  if (axes.inputs.empty() || (axes.table && layer.kind != "ReversibleEmbedding")) return false;
  if (weight.name() == "recurrent_kernel") return false;  // products of states
  std::int64_t terms = 1;
  for (const std::int64_t axis : axes.inputs) terms *= weight.shape()[static_cast<std::size_t>(axis)];
  return terms <= detail::most_int8_terms && std::any_cast<detail::PlainProducts>(&layer.content) == nullptr;
}

/// True if a layer has matrices whose products a policy may compute in int8. Of the convolutions these are kernels of
/// Conv2D alone. Quantized kernels, and fake ones that take codes of images, have products of their own.
bool takes_int8(const detail::LayerState& layer) {
  const bool convolves = layer.kind.find("Conv") != std::string::npos;
  const auto quantized = [](const Variable& weight) { return weight.quantized(); };
  if (std::any_of(layer.weights.begin(), layer.weights.end(), quantized)) return false;
  const bool grouped = std::any_cast<detail::ChannelGroups>(&layer.content) != nullptr;
  return std::any_of(layer.weights.begin(), layer.weights.end(), [&](const Variable& weight) {
    const Shape& shape = weight.shape();
    if (!convolves) return multiplies_rows(layer, weight);
    if (layer.kind != "Conv2D" || shape.size() != 4 || grouped) return false;
    const auto& fake = weight.state()->fake;
    return !(fake && detail::takes_image_codes(shape, fake->form.prepared())) &&
           detail::takes_int8_convolution(shape, 1, windows_of(layer.last_output));
  });
}

/// Dtype in which a layer computes, the format of the products with its matrices, and the fake form of its weights.
std::string compute_text(const Policy& policy, const detail::LayerState& layer) {
  const std::vector<Variable>& weights = layer.weights;
  const bool int8 = policy.products() != ProductFormat::same && takes_int8(layer);
  const std::string text = dtype_name(policy.compute_dtype()) + std::string(int8 ? ", int8 products" : "");
  for (const Variable& weight : weights) {
    if (weight.state()->fake) return fmt::format("{}, {}", text, weight.state()->fake->form.name());
  }
  return text;
}

using Slots = std::vector<Optimizer::Slots>;

/// Size of the optimizer states of these weights.
ParameterSize states_of(const std::vector<Variable>& weights, const Slots& slots) {
  ParameterSize size;
  for (const Optimizer::Slots& entry : slots) {
    const auto same = [&](const Variable& weight) { return weight.id() == entry.variable.get(); };
    if (std::none_of(weights.begin(), weights.end(), same)) continue;
    for (const auto& slot : entry.values) size.add(*slot);
  }
  return size;
}

/// True if every size except the batch axis is known.
bool is_known(const Shape& shape) {
  return std::all_of(shape.begin() + (shape.empty() ? 0 : 1), shape.end(), [](std::int64_t size) { return size >= 0; });
}

/// Bytes of one sample of a layer's output.
std::size_t activation_bytes(const Shape& output, DType dtype) {
  std::size_t bytes = dtype_size(dtype);
  for (std::size_t axis = 1; axis < output.size(); ++axis) bytes *= static_cast<std::size_t>(output[axis]);
  return bytes;
}

/// Output shape with an open batch axis.
std::string output_text(const std::optional<Shape>& output) {
  if (!output) return "?";
  Shape shape = *output;
  if (!shape.empty()) shape[0] = -1;
  return to_string(shape);
}

/// Position of a layer in the model, and the settings of the levels above it.
struct Place {
  std::string name{};
  std::string path{};
  std::vector<detail::PolicyLevel> levels{};  ///< outermost first
  bool trainable = true;                      ///< of the layer and every layer above it
};

/// Lines of the table; a container comes before its layers.
class Lines {
 public:
  Lines(const Slots& slots, bool running) : slots_(slots), running_(running) {}

  void add_below(const Layer& layer, const Place& place) {
    for (const auto& [name, child] : layer.state()->children) {
      Place below{name, place.path + (place.path.empty() ? "" : "/") + name, place.levels,
                  place.trainable && child->trainable};
      below.levels.push_back({child->policy, below.path});
      const detail::LayerHandle handle(child, below.path, {});
      add(handle, below);
      add_below(handle, below);
    }
  }

  void add(const Layer& layer, const Place& place) {
    const detail::LayerState& state = *layer.state();
    const std::vector<Variable> weights = layer.weights();
    ParameterSize size;
    for (const Variable& weight : weights) size.add(*weight.state());
    const bool built = state.called || !weights.empty();
    unbuilt_ += built ? 0 : 1;
    // The policy of the last call may be a Trainer's, which ends with its run.
    const bool as_called = running_ && !state.last_policy.inherits();
    const Policy policy = as_called ? state.last_policy : detail::policy_at(place.levels, place.path);
    const auto depth = static_cast<std::size_t>(std::count(place.path.begin(), place.path.end(), '/'));
    const std::string trainable = place.trainable ? "yes" : "no";
    const ParameterSize states = states_of(weights, slots_);
    std::string activations = "?";
    if (state.last_output && is_known(*state.last_output)) {
      const std::size_t bytes = activation_bytes(*state.last_output, policy.output_dtype());
      activations = bytes_text(bytes);
      if (state.children.empty()) activation_bytes_ += bytes;
    }
    rows_.push_back({std::string(2 * depth, ' ') + place.name + (place.name.empty() ? "(" : " (") + state.kind + ")",
                     place.path, output_text(state.last_output), compute_text(policy, state), dtypes_of(weights),
                     built ? count_text(size.count) : "?", built ? bytes_text(size.bytes) : "?",
                     states.count > 0 ? bytes_text(states.bytes) : "-", activations,
                     weights.empty() ? "-" : trainable});
  }

  std::string text() const {
    std::string out;
    for (const std::string& line : detail::table_lines(columns, rows_)) out += line + "\n";
    return out;
  }

  int unbuilt() const { return unbuilt_; }

  /// Bytes of the outputs of layers without sub-layers, for one sample.
  std::size_t activations() const { return activation_bytes_; }

 private:
  const Slots& slots_;
  bool running_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t activation_bytes_ = 0;
  int unbuilt_ = 0;
};

}  // namespace

std::string Model::summary_text() const {
  const Slots optimizer_slots = compiled_ ? compiled_->optimizer->state()->slots : Slots();
  Lines lines(optimizer_slots, detail::is_running(*this));
  const Place root{.levels = {{mezzo::dtype_policy(), ""}, {state()->policy, ""}}, .trainable = trainable()};
  if (!state()->weights.empty()) lines.add(*this, root);
  lines.add_below(*this, root);

  ParameterSize total, trained, frozen, slots;
  for (const detail::WeightPolicy& weight : detail::weight_policies(*this, {})) {
    total.add(*weight.variable.state());
    (weight.trainable ? trained : frozen).add(*weight.variable.state());
  }
  for (const Optimizer::Slots& entry : optimizer_slots) {
    for (const auto& slot : entry.values) slots.add(*slot);
  }
  total.count += slots.count;
  total.bytes += slots.bytes;
  const std::string unbuilt =
      lines.unbuilt() > 0 ? fmt::format(", without {} layers that are not built", lines.unbuilt()) : "";
  std::string text = fmt::format("Model: {}\n{}", name().empty() ? state()->kind : name(), lines.text());
  text += fmt::format("Total params: {}{}\nTrainable params: {}\nNon-trainable params: {}\n", total.text(), unbuilt,
                      trained.text(), frozen.text());
  if (slots.count > 0) text += fmt::format("Optimizer params: {}\n", slots.text());
  if (lines.activations() > 0) text += fmt::format("Activations: {} a sample\n", bytes_text(lines.activations()));
  return text;
}

void Model::summary() const { std::cout << summary_text() << std::flush; }

std::string Model::explain(const ExplainOptions& options) { return detail::explain_text(*this, label(), options); }

}  // namespace mezzo
