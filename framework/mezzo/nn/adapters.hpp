#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/adapters.hpp>
#include <mezzo/nn/layer.hpp>

// Adapters of kernels: which kernels can have them, and how layers compute with them.
namespace mezzo::detail {

/// Lets a kernel have adapters. Its layer must compute with them, by weight_product() or adapter_in_use(). `inputs`
/// are the axes of A before the rank, `outputs` the columns of B; the kernel has the elements of their product.
MEZZO_API void allow_adapters(const Variable& kernel, const Shape& inputs, std::int64_t outputs, bool table = false);

/// The adapter that a layer must add to the kernel's result; null if there is none. A ValueError in training if
/// adapters are merged, since they have no gradients then.
MEZZO_API const Adapter* adapter_in_use(const Variable& kernel);

/// The kernel, or the variable in its place while an adapter is merged.
MEZZO_API Variable kernel_in_use(const Variable& kernel);

/// x after the adapter's dropout, in training only.
MEZZO_API Value adapter_input(const Value& x, const Adapter& adapter);

/// scale * (dropout(x) A) B: (..., in) becomes (..., out).
MEZZO_API Value adapted_product(const Value& x, const Adapter& adapter);

/// Rows of the update of a table with these indices.
MEZZO_API Value adapted_rows(const Value& indices, const Adapter& adapter);

/// scale * (x B^T) A^T: the product of states (..., outputs) with the transposed update of a table.
MEZZO_API Value adapted_reverse(const Value& x, const Adapter& adapter);

/// scale * A B in the kernel's shape, with at least float32.
Tensor adapter_delta(const Adapter& adapter, const Shape& kernel);

/// The kernel's numbers with the active adapter added, in the kernel's dtype; float32 for a kernel of codes.
Tensor merged_numbers(const Variable& kernel);

/// The kernel of a layer that has or can have adapters; null if there is none.
const Variable* adaptable_kernel(const LayerState& layer);

/// Adapters of that kernel; null if the layer has no adapter.
Adapters* adapters_of(const LayerState& layer);

/// True if the layer or one below has an adapter.
MEZZO_API bool has_adapters(const LayerState& layer);

/// A layer with its path from the root: "encoder/query"; "" for the root.
struct PlacedLayer {
  std::string path;
  Shared<LayerState> layer;
};

/// The root and all layers below, each once.
std::vector<PlacedLayer> layers_below(const Shared<LayerState>& root);

/// Adapters of the root and of the layers below that have any.
std::vector<Adapters*> all_adapters(const Shared<LayerState>& root);

/// A and B of all adapters of a layer, without those below.
std::vector<Variable> adapter_weights(const LayerState& layer);

/// Weights of the layer and below that have been trainable before they or others had adapters.
std::vector<Variable> frozen_by_adapters(const LayerState& layer);

/// An adapter to add.
struct AdapterPlan {
  std::string name;
  std::int64_t rank = 0;
  double alpha = 1;
  bool use_rslora = false;
  double dropout = 0;
  Any<Initializer> a_initializer = "he_uniform";
  Any<Initializer> b_initializer = "zeros";
};

/// Throws for a name, rank, alpha or dropout that no adapter can have.
void check_plan(const AdapterPlan& plan, const std::string& where);

/// Throws if the kernel of a layer can't get adapters of that name now.
void check_new_adapter(const PlacedLayer& one, const std::string& name, const std::string& where);

/// Makes A and B, adds them to the layer's weights and freezes the kernel. The adapter isn't active yet.
void add_adapter(LayerState& layer, const AdapterPlan& plan, const std::string& where);

/// Layer::enable_lora(). `label` starts errors.
void enable_lora(const Layer& layer, const LoraOptions& options, const std::string& label);

/// Freezes everything except adapters, as PEFT: weights of layers with adapters and of layers around them one by one,
/// other layers by their flag. `keeper` notes these weights.
void freeze_others(LayerState& layer, Adapters& keeper);

}  // namespace mezzo::detail
