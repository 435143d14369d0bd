#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
/// Ops between the inputs and outputs of a functional model, with their layers and variables and without casts. A value
/// type: a clone of the model has variables of its own.
class MEZZO_API FunctionalGraph {
 public:
  FunctionalGraph() = default;

  /// Collects the ops from the outputs back to the inputs, which are Inputs or other symbols. The layers between them
  /// become sub-layers of `owner`. A ValueError if an input isn't a symbol, or an output depends on an Input that isn't
  /// in `inputs`.
  FunctionalGraph(const Values& inputs, const Values& outputs, LayerState& owner);

  bool empty() const { return outputs_.empty(); }
  std::size_t input_count() const { return inputs_.size(); }
  const Spec& input(std::size_t i) const { return inputs_[i]; }

  /// Name of an Input; "" if it has none.
  const std::string& input_name(std::size_t i) const { return input_names_[i]; }

  std::size_t output_count() const { return outputs_.size(); }

  /// Names of the outputs: those of name_outputs(), or the name of the layer of the model that makes the output, else
  /// of the op or Input. Equal ones get numbers: "dense", "dense_1".
  std::vector<std::string> output_names() const;

  /// Sets one name for each output. A ValueError that starts with `where` for names that are empty, equal or of another
  /// number.
  void name_outputs(const std::vector<std::string>& names, const std::string& where);

  /// True if calls of the layers add losses.
  bool adds_losses() const;

  /// Layers that the graph calls; empty handles: ops, and layers of classes that are not registered.
  const std::vector<Any<Layer>>& callers() const { return callers_; }

  /// Inserts every op again at the place of the call, for the shapes, dtypes and policy of the call. The outputs have
  /// the masks of the graph's outputs.
  Values insert(const Values& xs) const;

  /// Calls every layer again, for inputs with masks: layers use the masks and pass them on as in the first call.
  Values call_layers(const Values& xs) const;

  /// Reason why call_layers() can't be called; "" if it can.
  std::string why_not_called() const;

  /// Symbolic Values of the graph, from which models of its parts are made.
  struct Symbols {
    Values inputs, outputs;
    std::vector<std::pair<const LayerState*, Value>> layers;  ///< first output of each layer
  };

  /// Symbols of the graph, made at the first call.
  const Symbols& symbols() const;

  /// Calls and ops of the graph, for configs.
  const GraphLayout& layout() const { return layout_; }

 private:
  struct Operand {
    enum class Kind { input, step, variable, constant } kind = Kind::constant;
    std::size_t index = 0;        ///< index of the input, step or variable
    int output = 0;               ///< index among the outputs of a step
    bool crosses_border = false;  ///< true if the operand enters a layer or an autocast() region here
    Value constant;               ///< the value itself, for Kind::constant
  };
  struct Update {
    Shared<VariableState> variable;
    Operand value;
  };
  /// Attributes whose functions are copied with the graph in a CloneScope.
  struct OwnAttributes : Attributes {
    OwnAttributes() = default;
    OwnAttributes(const Attributes& attributes) : Attributes(attributes) {}
    OwnAttributes(const OwnAttributes& other);
    OwnAttributes(OwnAttributes&&) = default;
    OwnAttributes& operator=(const OwnAttributes&) = default;
    OwnAttributes& operator=(OwnAttributes&&) = default;
    ~OwnAttributes() = default;
  };
  struct Step {
    const Op* op = nullptr;
    std::vector<Operand> inputs;
    OwnAttributes attributes;
    struct Layer {
      Shared<LayerState> state;
      std::string entry;
      CastRegions regions;
      std::optional<bool> training;            ///< mode that the layer was called with
      std::shared_ptr<const RematCall> remat;  ///< the call in which the op was inserted
    };
    std::vector<Layer> layers;    ///< layers around the op, outermost first
    CastRegions regions;          ///< autocast() regions around all layers
    std::vector<Update> updates;  ///< updates of variables that were attached to the op
    std::vector<Operand> losses;  ///< losses of the innermost layer that were attached to the op
  };
  class Reader;
  using Places = std::unordered_map<const Node*, std::size_t>;

  /// Fills layout_. `inputs` and `steps` are the places of the nodes.
  void read_layout(const Places& inputs, const Places& steps);

  /// Records the calls of the layout in their layers for these symbols, so that models of them have a config too.
  void note_calls(const Values& inputs, const std::vector<Values>& results) const;

  /// Casts a step's result to the output dtype of each layer between the step and its consumer.
  Value leave(Value result, const Step& step, const Frames& consumer) const;

  /// Appends the outputs of each step to `results`. `remember`: stores policy and output shape in each layer.
  Values insert(const Values& xs, std::vector<Values>& results, bool remember) const;

  std::vector<Spec> inputs_;
  std::vector<std::string> input_names_;
  std::vector<Step> steps_;
  std::vector<Shared<VariableState>> variables_;
  std::vector<Operand> outputs_;
  std::vector<std::pair<Operand, Operand>> masks_;  ///< values that have a mask, and their masks
  std::size_t output_steps_ = 0;  ///< number of the first steps, which outputs depend on; the others make masks inside
                                  ///< the graph
  GraphLayout layout_;
  std::vector<Any<Layer>> callers_;  ///< layers of the calls of the layout; empty handles: not known, or an op
  /// Outputs of the calls of the layout: step and output.
  std::vector<std::vector<std::pair<std::size_t, int>>> call_outputs_;
  mutable Transient<const Symbols> symbols_;  // not copied, since they refer to this graph's own variables
};
}  // namespace detail

}  // namespace mezzo
