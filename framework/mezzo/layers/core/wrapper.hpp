#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// Base of layers that hold one layer and change what it computes. Derive from it as from Layer, and call the layer by
/// `layer()(x)`.
class MEZZO_API Wrapper : public Layer {
 public:
  /// Builds the layer that it holds.
  void build(const Shape& input) override;

  /// The layer that it holds.
  const Any<Layer>& layer() const { return layer_; }

 protected:
  /// `options` has the fields `layer`, `name`, `dtype` and optionally `trainable`. A ValueError if there is no layer.
  template <class Options>
  Wrapper(const char* kind, const Options& options) : Layer(kind, options), layer_(options.layer) {
    require_layer();
  }

 private:
  void require_layer() const;

  Any<Layer> layer_;
};

}  // namespace mezzo
