#pragma once
#include <any>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/nn/regularizer.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo {

namespace detail {
/// Rules for a layer's weight files, beyond the names and layouts that add_weight() declares. Names are those in the
/// file, relative to this layer: "layer1.0.conv1.weight". Regular expressions are those of RE2.
struct WeightFileRules {
  /// Pairs of a regular expression and the replacement of each match in a name, applied in order. "$1" is a group.
  std::vector<std::pair<std::string, std::string>> rename{};
  std::vector<std::string> plain{};  ///< regular expressions of weights whose axes files do not permute
  std::vector<std::string> skip{};   ///< names of tensors that load_weights() ignores: "num_batches_tracked"
  std::string optional_prefix{};     ///< prefix that all names of a loaded file may have; never written
};

/// A call of a layer on symbols of a functional graph. It does not keep the symbols.
struct LayerCall {
  struct Symbol {
    std::weak_ptr<Node> node;
    int output = 0;
    Value constant{};  ///< an array, if it is not a symbol
  };
  std::vector<Symbol> inputs, outputs;
  std::optional<bool> training{};      ///< mode that the layer was called with
  std::string arguments{};             ///< Layer::call_arguments()
  std::vector<std::int64_t> masked{};  ///< inputs with a mask of the call; the masks follow the inputs
};

/// State that all copies of a layer share: kind, name, policy, sub-layers, weights.
struct MEZZO_API LayerState : ScopeInfo {
  struct Blank {};
  explicit LayerState(Blank) {}
  explicit LayerState(ScopeInfo info) : ScopeInfo(std::move(info)) {}
  void copy_from(const LayerState& other) { *this = other; }

  std::vector<std::pair<std::string, Shared<LayerState>>> children;  ///< sub-layers with their names in this layer
  std::vector<Variable> weights;                                     ///< own weights, without those of sub-layers
  WeightFileRules weight_files;
  Policy last_policy = Policy("");        ///< policy of the last build or call
  std::optional<Shape> last_output;       ///< shape of the (first) output of the last call
  bool is_model = false;                  ///< true for a Model
  bool called = false;                    ///< true after the first call
  bool warned_of_mask = false;            ///< true after the warning that a mask was dropped
  Any<Regularizer> activity_regularizer;  ///< penalty of the outputs; empty: none
  Values losses;                          ///< losses added by the last call outside of a step

  // Content of configs.
  const std::type_info* type = nullptr;  ///< class, known once the layer was called or added to a container
  std::any options;                      ///< options struct passed to the layer's constructor
  std::any content;                      ///< a GraphLayout for a functional model, a SequenceLayout for a Sequential
  std::vector<Spec> built_for;           ///< inputs of the call that built the layer
  std::vector<LayerCall> calls;          ///< on symbols outside of other layers

  /// Sets the flag of this layer and all below.
  void set_trainable(bool flag);

  /// Drops the losses of this layer and all below.
  void clear_losses();

  /// Adds `child` to the sub-layers unless it is one, and returns its name in this layer: `wanted`, or an automatic one
  /// ("dense", "dense_1") if that is empty. A NameError if another child has the name.
  const std::string& enter(const std::string& wanted, const Shared<LayerState>& child);
};

/// Structure of a functional model: calls of layers, and ops outside of layers, in an order in which each follows its
/// operands.
struct GraphLayout {
  struct Operand {
    enum class Kind { input, call, constant, other } kind = Kind::other;
    std::size_t index = 0;  ///< index of the input or call
    int output = 0;         ///< index among the outputs of the call
    Value constant{};       ///< an array, if it is a constant
  };
  struct Call {
    std::optional<Shared<LayerState>> layer{};  ///< layer that is called; none for an op
    const Op* op = nullptr;                     ///< the op, without a layer
    Attributes attributes{};                    ///< attributes of the op
    std::vector<Operand> inputs{};
    std::optional<bool> training{};
    std::string arguments{};
    std::vector<std::int64_t> masked{};  ///< as LayerCall::masked
  };
  std::vector<Spec> inputs{};
  std::vector<std::string> input_names{};
  std::vector<Call> calls{};
  std::vector<Operand> outputs{};
  std::vector<std::string> output_names{};  ///< names that the model was given; {}: those of the layers
  std::string problem{};                    ///< reason why the model has no config; "" if it has one
};

/// Structure of a Sequential.
struct SequenceLayout {
  std::vector<Shared<LayerState>> layers{};
  std::optional<Spec> input{};  ///< spec of its Input
  std::string input_name{};
};

/// Keras' automatic name of a class: "BatchNormalization" -> "batch_normalization".
MEZZO_API std::string snake_case(const std::string& kind);
}  // namespace detail

}  // namespace mezzo
