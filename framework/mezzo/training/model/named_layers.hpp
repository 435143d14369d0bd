#pragma once
#include <string>
#include <utility>
#include <vector>

#include <mezzo/training/model/model.hpp>
#include <mezzo/training/model/sequential.hpp>

namespace mezzo::detail {

/// Layers of a model that is made of a config, with their names in it.
struct NamedLayers {
  std::vector<std::pair<std::string, Shared<LayerState>>> entries{};

  /// Makes a functional model of them.
  static Model functional(const ModelOptions& options, const NamedLayers& layers) { return {options, layers}; }

  /// Adds the layers and the Input to an empty Sequential.
  static void fill(Sequential& model, std::vector<Any<Layer>> layers) { model.assign_layers(std::move(layers)); }
};

}  // namespace mezzo::detail
