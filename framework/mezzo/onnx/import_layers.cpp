#include <algorithm>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/onnx/import_model.hpp>
#include <mezzo/onnx/import_nodes.hpp>
#include <mezzo/onnx/import_weights.hpp>
#include <mezzo/ops/ops.hpp>

// Layers and weights of models of ONNX files.
namespace mezzo::detail {
namespace {

constexpr std::size_t most_layers = 4096;  // nodes that are sub-layers: entering them compares their names

/// A node while its weights are made.
class NodeLayer : public Layer {
 public:
  explicit NodeLayer(Shared<LayerState> state) : Layer(std::move(state)) {}
  using Layer::add_weight;
};

bool has_any(const std::set<std::size_t>& places, const OnnxNode& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](std::size_t place) { return places.count(place) > 0; });
}

/// True for operators whose steps may be traced as a loop.
bool may_loop(const OnnxNode& node) {
  const bool recurrent = node.op == "LSTM" || node.op == "GRU" || node.op == "RNN";
  const auto has = [&](const char* name) { return node.attributes.count(name) > 0; };
  return node.op == "Scan" ||
         (recurrent && (node.inputs.size() > 7 || has("activations") || has("clip") || has("input_forget")));
}

}  // namespace

OnnxLayer OnnxModel::add_layer(const OnnxNode& node, bool trainable, bool owns) {
  std::string name = onnx_layer_name(node.name);
  const auto& known = state()->children;
  const bool taken = std::any_of(known.begin(), known.end(), [&](const auto& child) { return child.first == name; });
  if (taken) name.clear();
  const Shared<LayerState> layer(
      std::in_place, ScopeInfo{.kind = node.op, .name = name, .policy = {}, .trainable = trainable, .remat = {}});
  const bool enters = entered_ < most_layers && (owns || !name.empty());
  entered_ += enters ? 1 : 0;
  return {enters ? state()->enter(name, layer) : name, layer, trainable};
}

void OnnxModel::add_weight_of(Layer& layer, const OnnxGraph::Initializer& one, const OnnxUse& use, bool trained) {
  WeightOptions weight{.shape = one.shape, .initializer = "zeros"};
  if (use.kernel) {
    weight.file_axes = onnx_kernel_order(one.shape.size());
    const Shape order = inverse_permutation(weight.file_axes);
    for (std::size_t axis = 0; axis < order.size(); ++axis) {
      weight.shape[axis] = one.shape[static_cast<std::size_t>(order[axis])];
    }
  }
  const bool numbers = is_floating(one.dtype);
  weight.autocast = numbers && !use.wide;
  weight.at_least_float32 = !numbers || use.wide;
  Variable variable(one.name);
  static_cast<NodeLayer&>(layer).add_weight(variable, weight);
  variable.state()->trainable = numbers && trained && !use.statistic;
  if (!numbers) variable.state()->value = Tensor(weight.shape, one.dtype);
  weights_.push_back({one.name, one.place, variable, use.kernel});
}

void OnnxModel::add_layers(const OnnxModelOptions& options) {
  const std::vector<OnnxUse> uses = uses_of_initializers(*graph_);
  const std::set<std::string> names(options.weights.begin(), options.weights.end());
  const std::set<std::string> trained(options.trained.begin(), options.trained.end());
  std::set<std::size_t> frozen_places, trained_places;
  std::map<const OnnxNode*, std::vector<std::size_t>> owned;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const OnnxGraph::Initializer& one = graph_->initializers[i];
    if (one.numbers) continue;
    if (names.count(one.name) == 0) {
      fail<ValueError>(label(), "initializer \"{}\" must have numbers, or be a weight", one.name);
    }
    const bool trains = trained.count(one.name) > 0 && !uses[i].statistic && is_floating(one.dtype);
    if (is_floating(one.dtype)) (trains ? trained_places : frozen_places).insert(one.place);
    owned[uses[i].node].push_back(i);
  }
  const RootScope root(*this);
  std::vector<OnnxLayer> layers;
  const auto add_weights = [&](NodeLayer& layer, const OnnxNode* node) {
    for (const std::size_t i : owned[node]) {
      const OnnxGraph::Initializer& one = graph_->initializers[i];
      add_weight_of(layer, one, uses[i], trained.count(one.name) > 0);
    }
  };
  for_each_onnx_node(graph_->body, [&](const OnnxNode& node) {
    const bool trainable = has_any(trained_places, node) || !has_any(frozen_places, node);
    const bool owns = owned.count(&node) > 0;
    OnnxLayer made = add_layer(node, trainable, owns);
    const bool entered = !state()->children.empty() && state()->children.back().second.get() == made.layer.get();
    if (owns) {
      const Scope scope(Frame{.info = made.layer.pointer(),
                              .entry = made.name,
                              .symbolic = false,
                              .regions = {},
                              .training = {},
                              .remat = nullptr});
      NodeLayer layer(entered ? made.layer : state());
      add_weights(layer, &node);
    }
    if (std::count(options.flipped.begin(), options.flipped.end(), made.name) > 0) made.layer->trainable = !trainable;
    scopes_.emplace(&node, OnnxRun::Place{made.layer, made.name});
    if (entered) layers.push_back(std::move(made));
    has_loops_ = has_loops_ || may_loop(node);
    reads_sizes_ = reads_sizes_ || node.op == "Shape" || node.op == "Size";
  });
  NodeLayer model(state());
  add_weights(model, nullptr);
  state()->content = OwnFileNames{};
  if (auto* const kept = std::any_cast<OnnxModelOptions>(&state()->options)) kept->layers = std::move(layers);
}

}  // namespace mezzo::detail
