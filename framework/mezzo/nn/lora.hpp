#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

// Adapters that Layer::enable_lora() made. The functions apply to a layer and all layers below. They throw a ValueError
// if there are no adapters, and while another thread runs the model.
namespace mezzo {

/// Names of the adapters in the layer and below, in the order in which they were made.
MEZZO_API std::vector<std::string> adapter_names(const Layer& layer);

/// Name of the adapters that the layers compute with; "" if there are none.
MEZZO_API std::string active_adapter(const Layer& layer);

/// Makes the adapters of that name the active ones: layers compute with them, and they alone are trainable. Layers
/// without adapters of that name compute with their kernel alone. A NameError if no layer has them.
MEZZO_API void set_adapter(const Layer& layer, const std::string& name);

/// Removes the adapters of that name. If they were active, those that were made first become active. With the last
/// adapters of a kernel, it and the bias are as trainable as before. A NameError if no layer has them.
MEZZO_API void delete_adapter(const Layer& layer, const std::string& name);

/// Adds the active adapters to copies of the kernels, which the layers compute with: inference costs as much as without
/// adapters. The kernels and adapters stay as they are, so that unmerge_adapter() is exact; the copies take memory.
/// Until then, training and assigning to a kernel are ValueErrors. Numbers assigned to A or B have no effect.
MEZZO_API void merge_adapter(const Layer& layer);

/// Drops the copies that merge_adapter() made. No effect on layers without them.
MEZZO_API void unmerge_adapter(const Layer& layer);

/// Adds the active adapters to the kernels and removes all adapters. Kernels and biases are as trainable as before;
/// layers without adapters stay frozen if enable_lora() froze them (set_trainable(true) ends that). A ValueError for a
/// kernel of fewer than 16 bits, which can't hold the sum.
MEZZO_API void merge_and_unload(const Layer& layer);

/// Layers compute without adapters for its lifetime: `{ const DisableAdapters base(model); y = model.predict(x); }`.
class MEZZO_API DisableAdapters {
 public:
  explicit DisableAdapters(const Layer& layer);  ///< layer: with all layers inside of it
  ~DisableAdapters();
  DisableAdapters(const DisableAdapters&) = delete;
  DisableAdapters& operator=(const DisableAdapters&) = delete;

 private:
  std::vector<Variable> kernels_;
};

}  // namespace mezzo
