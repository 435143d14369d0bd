#pragma once
#include <cstddef>
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

/// A kind of node. Each op is one file: its checks, shape, dtype and its gradient, written in ops.
struct Op {
  std::string name;
  std::vector<std::string> aliases;  ///< torch's names for it, for op lists
  CastRule cast;

  /// The op whose nodes it makes, where it is another only in how it takes its operands: "bias_add" makes "add".
  const char* runs = nullptr;

  /// Checks the call (a clear error before any kernel runs) and tells the outputs.
  std::vector<Spec> (*infer)(const OpCall& call) = nullptr;

  /// Cotangents of the inputs from those of the outputs, in ops; undefined where there is none. Null: not
  /// differentiable, and gradients stop here.
  Values (*gradient)(const GradientContext& context) = nullptr;

  /// How a functional graph's node is inserted anew when its model is called, for ops that training, path or
  /// trainability change (dropout, batch norm); null: plainly.
  Values (*reinsert)(const Values& inputs, const Attributes& attributes) = nullptr;

  /// Has an effect beside its outputs (a check that may fail): never dropped, never merged with its like.
  bool effect = false;

  /// Its output is the bytes of its first input.
  bool view = false;

  /// Output i may lie on the bytes of input in_place[i], a variable that it updates.
  std::vector<std::size_t> in_place;
};

/// The op of that name; a NameError otherwise.
const Op& find_op(const std::string& name);

/// All ops.
const std::vector<Op>& op_table();

}  // namespace mezzo
