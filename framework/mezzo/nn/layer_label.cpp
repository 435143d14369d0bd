#include <mezzo/nn/layer_label.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {

std::string detail::label_of(const LayerState& layer) {
  return layer.name.empty() ? fmt::format("[{}]", layer.kind) : fmt::format("[{} \"{}\"]", layer.kind, layer.name);
}

}  // namespace mezzo
