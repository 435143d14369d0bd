#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// A layer for Layer::sub(), behind its handle.
struct SubLayer {
  Any<Layer> layer;
  const Shared<LayerState>& state() const { return layer->state(); }
};

}  // namespace mezzo::detail
