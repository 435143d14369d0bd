#pragma once
#include <string>
#include <utility>
#include <vector>

#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// The nodes between inputs and outputs of a functional model: ops with their layers and variables, uncast. Held by
/// value, so that a clone of the model has variables of its own.
class FunctionalGraph {
 public:
  FunctionalGraph() = default;

  /// Walks back from the outputs. Layers on the way become children of `owner`. A ValueError if an input isn't an
  /// Input, or an output depends on an Input that isn't listed.
  FunctionalGraph(const Values& inputs, const Values& outputs, LayerState& owner);

  bool empty() const { return outputs_.empty(); }
  std::size_t input_count() const { return inputs_.size(); }
  const Spec& input(std::size_t i) const { return inputs_[i]; }

  /// Inserts every op again, where the call is: with its shapes, dtypes and policy.
  Values insert(const Values& xs) const;

  /// The graph as symbols, made at the first call: for models on parts of it.
  struct Symbols {
    Values inputs, outputs;
    std::vector<std::pair<const LayerState*, Value>> layers;  ///< first outputs of all layers on the way
  };
  const Symbols& symbols() const;

 private:
  struct Operand {
    enum class Kind { input, step, variable, constant } kind = Kind::constant;
    std::size_t index = 0;  ///< of input, step or variable
    int output = 0;
    bool crosses_border = false;
    Value constant;
  };
  struct Update {
    Shared<VariableState> variable;
    Operand value;
  };
  struct Step {
    const Op* op = nullptr;
    std::vector<Operand> inputs;
    Attributes attributes;
    struct Layer {
      Shared<LayerState> state;
      std::string entry;
      CastRegions regions;
    };
    std::vector<Layer> layers;  ///< outermost first
    CastRegions regions;        ///< outside of them
    std::vector<Update> updates;
  };
  class Reader;

  /// A step's result for a consumer in those layers: in the output dtypes of the layers that it leaves on the way.
  Value leave(Value result, const Step& step, const Frames& consumer) const;

  /// `remember`: layers keep policy and output shape of this call.
  Values insert(const Values& xs, std::vector<Values>& results, bool remember) const;

  std::vector<Spec> inputs_;
  std::vector<Step> steps_;
  std::vector<Shared<VariableState>> variables_;
  std::vector<Operand> outputs_;
  mutable Transient<const Symbols> symbols_;  // they refer to this graph's own variables
};

}  // namespace mezzo
