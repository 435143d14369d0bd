#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <mezzo/onnx/import_graph.hpp>

namespace mezzo::detail {

/// Initializers that become Variables, by name: weights, and large constants, so that model files hold these as
/// tensors.
struct OnnxWeights {
  std::vector<std::string> all, trainable;
};

/// Chooses the Variables of a graph by LoadOnnxOptions::trainable. `constants`: initializers that the file has as
/// Constant nodes; ones and zeros that such nodes give to InstanceNormalization are no weights. A NameError that starts
/// with `where` if that is an expression that is invalid or matches no weight.
OnnxWeights choose_onnx_weights(const OnnxGraph& graph, const std::string& trainable,
                                const std::set<std::string>& constants, const std::string& where);

/// Use of an initializer by operators.
struct OnnxUse {
  bool kernel = false;      ///< kernel of convolutions, and nothing else
  bool wide = false;        ///< weight or statistic of a normalization: at least float32
  bool statistic = false;   ///< running statistic
  bool weight = false;      ///< read as a weight
  bool added = false;       ///< operand of Add
  bool multiplied = false;  ///< operand of Mul
  bool instances = false;   ///< scale or bias of InstanceNormalization
  bool setting = false;     ///< not an array of the computation, but numbers that set sizes
  /// First node that computes with it, to whose layer it belongs; else the first that moves its elements; null: none.
  const OnnxNode* node = nullptr;
};

/// Uses of the initializers, in their order, also after operators that only move elements.
std::vector<OnnxUse> uses_of_initializers(const OnnxGraph& graph);

}  // namespace mezzo::detail
