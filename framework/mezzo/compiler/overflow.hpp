#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <mezzo/core/error.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/elementwise_program.hpp>

namespace mezzo {

/// Error of a step whose loss or gradients are not finite.
struct NonFiniteError : ValueError {
  using ValueError::ValueError;
};

/// True if no element is an infinity or NaN, and for dtypes that are not floating. Allocates no memory.
bool all_finite(const void* data, const Spec& spec);

/// True if the backward pass needs a loss scale: a node computes in float16, or a weight is stored in it. A float16
/// input does not count, since it has no gradient.
bool computes_in_float16(const Graph& graph);

/// The first step of a chain with an infinity or NaN among its results; null if there is none, and for other ops. Runs
/// the steps one by one on the operands of the node at these addresses.
const ElementwiseStep* first_overflow(const detail::Node& node, const std::vector<const void*>& operands);

/// Origin of an infinity or NaN.
struct Overflow {
  std::string op;      ///< "conv2d"; "input", "variable" or "constant" for a leaf
  std::string path;    ///< path of the layer, or the name of the input or variable; empty outside of layers
  std::string reader;  ///< if `path` is empty: path of the first layer that reads the value
  DType dtype = DType::float32;
  bool backward = false;  ///< computed from the loss
  std::size_t step = 0;   ///< position in the order of execution; in a plan, the position of its kernel
};

/// Attribute of a node that passes on the numbers of its operands outside of its result; the result only orders the
/// node. Reports skip such a node and look at its operands.
constexpr const char* orders_only = "orders_only";

/// Attribute of a node whose results are sums over ranks, a Shape: for each result the index of the number of this rank
/// among the operands of the node's only operand.
constexpr const char* sent_inputs = "sent_inputs";

/// Origin of a non-finite value, for messages: `"backbone/conv1" conv2d gave the first value that is not finite
/// (float16)`. The backward pass adds `in the backward pass`; an op outside of layers has `into "head"`, the layer that
/// reads it, instead of its own path. For a leaf: `variable "stem/kernel" holds a value that is not finite (float32)`.
/// Without an origin: `a value is not finite`.
std::string describe(const std::optional<Overflow>& overflow);

/// Error text of a gate with OnFailure::error: the gate's own text, then the value that closed it.
std::string error_of(const Graph::Gate& gate, const std::optional<Overflow>& overflow);

/// Nodes of a step with an infinity or NaN among their outputs.
class Overflows {
 public:
  /// Adds an output of a node; called in the order of execution. `reader` is the path of the layer that reads the
  /// value. `step`: the first step of a chain with such a result, which messages name instead of the chain.
  void note(const Value& value, const std::string& reader, const ElementwiseStep* step = nullptr);

  /// Position of the next recorded values in the order of execution.
  void at(std::size_t position) { position_ = position; }

  /// The first recorded node with an unbroken chain of recorded values to the gate `ok`; none if there is none. The
  /// unbroken chain excludes, for example, a mask of -infinity that softmax turns into zeros. `loss_ok` is the gate of
  /// the loss, or `ok` if there is no other; nodes that it doesn't depend on are in the backward pass.
  std::optional<Overflow> behind(const Value& ok, const Value& loss_ok) const;

  /// The same for an output of a step without a backward pass: the first recorded node with an unbroken chain to it.
  std::optional<Overflow> behind_output(const Value& output) const;

 private:
  struct Entry {
    std::size_t order, position;
    DType dtype;
    std::string reader;
    const ElementwiseStep* step;
    std::vector<int> outputs{};  ///< nodes that were recorded
  };
  using Cause = std::map<std::size_t, const detail::Node*>;  // by order of execution: recorded nodes that lead to a
                                                             // gate
  static std::string first_layer_after(const Cause& cause);
  Cause cause_of(Values pending) const;
  std::optional<Overflow> first_of(const Cause& cause) const;

  std::size_t position_ = 0;
  std::unordered_map<const detail::Node*, Entry> entries_;
};

}  // namespace mezzo
