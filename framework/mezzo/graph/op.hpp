#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/attributes.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/precision/autocast.hpp>

namespace mezzo {

/// Shape and dtype of one output of a node.
struct Spec {
  Shape shape;                   ///< sizes of the axes; -1: not known yet
  DType dtype = DType::float32;  ///< dtype of the elements

  /// True: equal shapes and dtypes.
  bool operator==(const Spec& other) const { return shape == other.shape && dtype == other.dtype; }
  bool operator!=(const Spec& other) const { return !(*this == other); }
};

/// "float32 (2, 3)".
MEZZO_API std::string to_string(const Spec& spec);

/// Bytes of a dense array of that spec. All sizes must be known.
MEZZO_API std::size_t bytes_of(const Spec& spec);

/// Arguments of an op's check: the operands' shapes and dtypes after autocast. Sizes may be -1 (unknown batch).
struct OpCall {
  const std::vector<Spec>& inputs;  ///< operands after autocast
  const Attributes& attributes;     ///< as the caller set them
  const std::string& where;         ///< `[Conv2D "stem"]`, or `[conv2d]` outside of layers: errors start with it
};

class GradientContext;

/// A kind of node. Each op of the library is one file of ops/ with its checks, output shapes and dtypes, and its
/// gradient. Ops are compared by address; names are for texts, op lists and files.
struct Op {
  std::string name;                      ///< unique among the ops: "conv2d"
  std::vector<std::string> torch_names;  ///< names that op lists accept for it
  detail::CastRule cast;                 ///< how autocast treats the operands
  bool widens = false;                   ///< bfloat16 and float16 operands may be widened for a float32 kernel

  /// Op of the inserted nodes, for ops that differ from it only in their CastRule: bias_add inserts add nodes. Null:
  /// the op itself.
  const Op* runs = nullptr;

  /// Checks the call before any kernel runs and returns the specs of the outputs. Errors start with call.where.
  std::function<std::vector<Spec>(const OpCall& call)> infer;

  /// Vector-Jacobian product, written with ops; an undefined Value means no gradient for that input. Empty: the op is
  /// not differentiable and passes no gradient.
  std::function<Values(const GradientContext& context)> gradient;

  /// Inserts a functional graph's node again when its model is called, for ops that depend on training, path or
  /// trainability (dropout, batch_norm). Empty: the node is inserted unchanged.
  std::function<Values(const Values& inputs, const Attributes& attributes)> reinsert;

  bool effect = false;  ///< has a side effect (a check, a print): never dropped, never merged
  bool view = false;    ///< the output shares the bytes of input 0

  /// Output i may overwrite input in_place[i], the variable that it updates.
  std::vector<std::size_t> in_place;
};

}  // namespace mezzo
