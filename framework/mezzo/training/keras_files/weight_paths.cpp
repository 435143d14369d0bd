#include <mezzo/training/keras_files/weight_paths.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/layer_label.hpp>
#include <mezzo/nn/layer_order.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/training/keras_files/gptq_arrays.hpp>
#include <mezzo/training/keras_files/quantized_arrays.hpp>

namespace mezzo::detail {
namespace {

bool has_layout(const LayerState& layer) {
  return std::any_cast<GraphLayout>(&layer.content) != nullptr ||
         std::any_cast<SequenceLayout>(&layer.content) != nullptr;
}

/// Name of Keras' class in groups: "my>Scale" -> "scale".
std::string group_name(const LayerState& layer) {
  const std::string name = class_of_layer(layer);
  const std::size_t mark = name.find('>');
  return snake_case(mark == std::string::npos ? name : name.substr(mark + 1));
}

/// Names in a container of Keras: equal ones get numbers.
class GroupNames {
 public:
  std::string next(const LayerState& layer) {
    const std::string name = group_name(layer);
    const int count = used_[name]++;
    return count == 0 ? name : fmt::format("{}_{}", name, count);
  }

 private:
  std::map<std::string, int> used_;
};

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
}

/// Attribute of Keras' layer that holds a sub-layer.
std::string attribute_of(const LayerState& layer, std::size_t place) {
  const std::string name = class_of_layer(layer);
  const std::string& child = layer.children[place].first;
  if (has_projections(name)) {
    const std::string dense = child == "attention_output" ? "output_dense" : child + "_dense";
    return name == "MultiHeadAttention" ? dense : "_" + dense;
  }
  if (name == "Bidirectional") return place == 0 ? "forward_layer" : "backward_layer";
  if (is_one_of(name, {"TimeDistributed", "SpectralNormalization"})) return "layer";
  if (is_one_of(name, {"RNN", "LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"})) return "cell";
  return child;
}

/// Name of the list that holds a sub-layer, "blocks" for "blocks.0"; "" for other names.
std::string list_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const bool in_list = dot != std::string::npos && dot > 0 && dot + 1 < name.size() &&
                       name.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return in_list ? name.substr(0, dot) : "";
}

/// True if Keras visits the attribute before the property `layers` of a class of models: public names come in the order
/// of the alphabet, private ones are last.
bool precedes_layers(const std::string& attribute) { return attribute.front() != '_' && attribute < "layers"; }

/// Throws for quantized weights of a layer that Keras doesn't quantize.
void require_known_to_keras(const LayerState& layer, const std::vector<Variable>& variables) {
  if (std::any_of(variables.begin(), variables.end(),
                  [](const Variable& one) { return one.state()->fake && one.state()->fake->form.fake; })) {
    fail<ValueError>(label_of(layer), "Keras has no quantization-aware training; quantize() first, or save as .mezzo");
  }
  const auto is_quantized = [](const Variable& one) { return one.quantized(); };
  if (std::none_of(variables.begin(), variables.end(), is_quantized)) return;
  const bool has_static = std::any_of(variables.begin(), variables.end(), [](const Variable& one) {
    return one.quantized() && one.state()->quantization->inputs_scale.get() != nullptr;
  });
  const auto is_nf4 = [](const Variable& one) { return one.quantized() && one.state()->quantization->nf4(); };
  if (std::any_of(variables.begin(), variables.end(), is_nf4)) {
    fail<ValueError>(label_of(layer), "Keras has no nf4 weights; save as .mezzo");
  }
  if (has_static) fail<ValueError>(label_of(layer), "Keras has no static activations; save as .mezzo");
  for (const Variable& one : variables) {
    if (one.quantized() && one.state()->quantization->gptq()) require_gptq_matrix_of_keras(one, label_of(layer));
  }
  if (adapters_of(layer) != nullptr) {
    fail<ValueError>(label_of(layer), "Keras has no adapters beside quantized kernels; save as .mezzo");
  }
  if (is_one_of(class_of_layer(layer),
                {"Dense", "EinsumDense", "Embedding", "ReversibleEmbedding", "HeadProjection"})) {
    return;
  }
  fail<ValueError>(label_of(layer), "Keras has no quantized layer of this class; save as .mezzo");
}

/// Throws for an attention layer some of whose projections are quantized: Keras has one form for all of them, in the
/// policy of the layer.
void require_one_form(const LayerState& layer) {
  if (!has_projections(class_of_layer(layer))) return;
  std::set<std::string> forms;
  for (const auto& child : layer.children) {
    for (const Variable& one : child.second->weights) {
      if (!can_be_quantized(one)) continue;
      const auto& fake = one.state()->fake;
      forms.insert(one.quantized() ? one.state()->quantization->form.name() : fake ? fake->form.name() : "");
    }
  }
  if (forms.size() < 2) return;
  fail<ValueError>(label_of(layer), "Keras quantizes all projections or none; got some; save as .mezzo");
}

class Walk {
 public:
  Walk(LayerListing listing, std::vector<Variable> frozen) : listing_(listing), frozen_(std::move(frozen)) {}

  void visit(const LayerState& layer, const std::string& group) {
    if (!seen_.insert(&layer).second) return;
    require_one_form(layer);
    add(layer, group);
    const std::string prefix = group.empty() ? "" : group + "/";
    if (!has_layout(layer)) visit_attributes(layer, prefix);
    if (!layer.is_model) return;
    GroupNames names;
    for (const Shared<LayerState>& child : listed_layers(layer, listing_)) {
      visit(*child, prefix + "layers/" + names.next(*child));
    }
  }

  std::vector<KerasWeights> take() { return std::move(out_); }

 private:
  void visit_attributes(const LayerState& layer, const std::string& prefix) {
    GroupNames names;
    const bool stack = class_of_layer(layer) == "StackedRNNCells";
    std::map<std::string, GroupNames> lists;
    for (std::size_t i = 0; i < layer.children.size(); ++i) {
      const LayerState& child = *layer.children[i].second;
      if (layer.is_model && !precedes_layers(layer.children[i].first)) continue;
      const std::string list = list_of(layer.children[i].first);
      if (!list.empty()) {
        visit(child, prefix + list + "/" + lists[list].next(child));
      } else {
        visit(child, prefix + (stack ? "cells/" + names.next(child) : attribute_of(layer, i)));
      }
    }
  }

  void add(const LayerState& layer, const std::string& group) {
    const std::vector<Variable> adapters = adapter_weights(layer);
    const auto is_in = [](const std::vector<Variable>& all, const Variable& one) {
      return std::any_of(all.begin(), all.end(), [&](const Variable& other) { return other.id() == one.id(); });
    };
    std::vector<Variable> variables = layer.weights;
    variables.erase(
        std::remove_if(variables.begin(), variables.end(),
                       [&](const Variable& one) { return is_in(adapters, one) || !taken_.insert(one.id()).second; }),
        variables.end());
    std::stable_partition(variables.begin(), variables.end(), [&](const Variable& one) {
      return one.trainable() || one.quantized() || is_in(frozen_, one);
    });
    if (variables.empty()) return;
    if (class_of_layer(layer) == "SpectralNormalization" && !layer.children.empty()) {
      const std::vector<Variable>& inner = layer.children.front().second->weights;  // Keras counts the kernel twice
      if (!inner.empty()) variables.insert(variables.begin(), inner.front());
    }
    require_known_to_keras(layer, variables);
    const bool int8 = std::any_of(variables.begin(), variables.end(), [](const Variable& one) {
      return one.quantized() && !one.state()->quantization->packed();
    });
    const bool gptq = has_gptq(variables);
    if (gptq) order_gptq(variables);
    out_.push_back({group, label_of(layer), class_of_layer(layer), std::move(variables),
                    layer.last_output ? layer.last_output->size() : 0, int8, gptq});
    if (is_untied_table(out_.back())) order_untied_table(out_.back().variables);
  }

  LayerListing listing_;
  std::vector<Variable> frozen_;  // by enable_lora(): in their places among trainable weights
  std::set<const LayerState*> seen_;
  std::set<const void*> taken_;
  std::vector<KerasWeights> out_;
};

}  // namespace

std::string class_of_layer(const LayerState& layer) {
  if (std::any_cast<GraphLayout>(&layer.content) != nullptr) return "Functional";
  if (std::any_cast<SequenceLayout>(&layer.content) != nullptr) return "Sequential";
  if (layer.type == nullptr) return layer.kind;
  const SavedClass<Layer>* const entry = find_class<Layer>(*layer.type);
  return entry == nullptr ? layer.kind : entry->name;
}

std::vector<Shared<LayerState>> listed_layers(const LayerState& model, LayerListing listing) {
  std::vector<Shared<LayerState>> out;
  if (const auto* sequence = std::any_cast<SequenceLayout>(&model.content)) return sequence->layers;
  const auto* graph = std::any_cast<GraphLayout>(&model.content);
  if (graph != nullptr && listing == LayerListing::by_graph) out = layer_order(*graph);
  const auto listed = [&](const Shared<LayerState>& layer) {
    return std::any_of(out.begin(), out.end(), [&](const auto& other) { return other.get() == layer.get(); });
  };
  for (const auto& child : model.children) {
    if (!listed(child.second)) out.push_back(child.second);
  }
  return out;
}

std::vector<KerasWeights> keras_weights(const LayerState& layer, LayerListing listing) {
  Walk walk(listing, frozen_by_adapters(layer));
  walk.visit(layer, "");
  return walk.take();
}

}  // namespace mezzo::detail
