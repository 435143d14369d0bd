#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include <mezzo/graph/trace.hpp>

namespace mezzo {

/// Whether every number is finite: true for dtypes that are not floating. Allocates nothing.
bool all_finite(const void* data, const Spec& spec);

/// Whether the backward pass needs a loss scale: a node computes in float16, or a weight is kept in it. An input alone,
/// which layers cast, has no gradient.
bool computes_in_float16(const Graph& graph);

/// Where a value that is not finite came from.
struct Overflow {
  std::string op;      ///< "conv2d"; of what isn't computed "input", "variable" or "constant"
  std::string path;    ///< of the layer, or the name of the input or variable; empty outside of layers
  std::string reader;  ///< where `path` is empty: the first layer that the value runs into
  DType dtype = DType::float32;
  bool backward = false;  ///< in a backward pass that a loss scale begins
};

/// The nodes of a step that gave values that are not finite.
class Overflows {
 public:
  /// In the order in which they were computed. `reader` is the path of the layer that reads it.
  void note(const NodePtr& node, DType dtype, const std::string& reader);

  /// The first from which values that are not finite run, without interruption, into `ok`, a gate: a mask of -inf that
  /// softmax makes zeros of isn't the cause. None if there is none.
  std::optional<Overflow> behind(const Value& ok) const;

 private:
  struct Entry {
    std::size_t order;
    DType dtype;
    std::string reader;
  };
  using Cause = std::map<std::size_t, const Node*>;  // by order: nodes that lead to a gate
  static std::string first_layer_after(const Cause& cause);

  std::unordered_map<const Node*, Entry> entries_;
};

}  // namespace mezzo
