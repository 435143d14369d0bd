#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/nn/config_json.hpp>

namespace mezzo::detail {

/// An output of a layer's call in Keras' graph.
struct KerasTensor {
  std::string layer;
  std::size_t node = 0;  ///< index of the call among those of the layer
  int output = 0;
  bool legacy = false;  ///< true in configs of Keras 2, which count calls of models in models from 1 on
};

/// An operand: a tensor, or a constant as mezzo's config has it.
struct KerasOperand {
  std::optional<KerasTensor> tensor{};
  Json constant{};
};

/// A call of a layer or operation.
struct KerasNode {
  std::vector<KerasOperand> operands{};  ///< inputs, then masks
  std::vector<std::int64_t> masked{};    ///< inputs with a mask of the call
  Json arguments{};                      ///< for Layer::call_with(); null: none
  Json options = Json::object();         ///< options of an operation that are arguments of the call
};

/// [layer, call, output].
KerasTensor read_history(const Json& json, const std::string& where);

/// Reads an entry of inbound_nodes, of Keras 3 or 2. A ValueError that starts with `where` for an argument that mezzo's
/// layer lacks.
KerasNode read_node(const Json& node, const std::string& class_name, bool operation, const std::string& where);

}  // namespace mezzo::detail
