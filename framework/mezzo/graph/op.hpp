#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/graph/attributes.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/precision/autocast.hpp>

namespace mezzo {

/// Shape and dtype of one output of a node.
struct Spec {
  Shape shape;
  DType dtype = DType::float32;
  bool operator==(const Spec& other) const { return shape == other.shape && dtype == other.dtype; }
  bool operator!=(const Spec& other) const { return !(*this == other); }
};
std::string to_string(const Spec& spec);

/// Size of a dense array of that spec, whose sizes are all known.
std::size_t bytes_of(const Spec& spec);

/// What an op's check sees: the operands' shapes and dtypes after autocast. Sizes may be -1 (unknown batch).
struct OpCall {
  const std::vector<Spec>& inputs;
  const Attributes& attributes;
  const std::string& where;  ///< `[Conv2D "stem"]`, or `[conv2d]` outside of layers: errors start with it
};

class GradientContext;

/// A kind of node. Each op is one file of ops/: its checks, shape, dtype and its gradient, written with ops. Ops are
/// compared by address; names are for people, lists of ops and files.
struct Op {
  std::string name;
  std::vector<std::string> torch_names;  ///< names that op lists accept for it
  CastRule cast;
  bool widens = false;  ///< bfloat16 and float16 operands may be computed as float32 by a kernel for float32

  /// The op that its nodes get, for ops that differ from it only in their CastRule: bias_add makes add nodes.
  const Op* runs = nullptr;

  /// Checks the call, with a clear error before any kernel runs, and returns the specs of the outputs.
  std::function<std::vector<Spec>(const OpCall& call)> infer;

  /// Vector-Jacobian product, written with ops; an undefined Value means no gradient for that input. Empty: the op is
  /// not differentiable, and gradients stop here.
  std::function<Values(const GradientContext& context)> gradient;

  /// Inserts a functional graph's node again when its model is called, for ops that depend on training, path or
  /// trainability (dropout, batch_norm). Empty: inserted as it is.
  std::function<Values(const Values& inputs, const Attributes& attributes)> reinsert;

  bool effect = false;  ///< has an effect beside its outputs (a check, a print): never dropped, never merged
  bool view = false;    ///< its output is the bytes of its first input

  /// Output i may overwrite input in_place[i], a variable that it updates.
  std::vector<std::size_t> in_place;
};

}  // namespace mezzo
