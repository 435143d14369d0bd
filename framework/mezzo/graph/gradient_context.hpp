#pragma once
#include <cstddef>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/node.hpp>

namespace mezzo {

/// Arguments of an op's gradient function: the differentiated node and the cotangents of its outputs.
class MEZZO_API GradientContext {
 public:
  /// Made by differentiation. `needed` and `dtypes` have one element per operand: true if its gradient is read, and the
  /// dtype of that gradient. All arguments must outlive the context.
  GradientContext(const detail::NodePtr& node, const Values& cotangents, const std::vector<bool>& needed,
                  const std::vector<DType>& dtypes)
      : node_(node), cotangents_(cotangents), needed_(needed), dtypes_(dtypes) {}

  const Attributes& attributes() const { return node_->attributes; }              ///< of the differentiated node
  std::size_t input_count() const { return node_->inputs.size(); }                ///< number of operands of the node
  const Value& input(std::size_t i) const { return node_->inputs[i]; }            ///< operand i, after autocast
  Value output(int i = 0) const { return {node_, i}; }                            ///< result i of the forward pass
  const Spec& output_spec(std::size_t i = 0) const { return node_->outputs[i]; }  ///< shape and dtype of result i

  /// `[Conv2D "stem"]`, or `[conv2d]` outside of layers.
  const std::string& where() const { return node_->where; }

  /// The cotangent of output i; undefined if the loss doesn't depend on that output.
  const Value& cotangent(std::size_t i = 0) const { return cotangents_[i]; }

  /// True if the cotangent of input i is used.
  bool needs(std::size_t i) const { return needed_[i]; }

  /// Dtype of the cotangent of input i. Kernels that accumulate (matmul, conv2d, sum) write it directly; the cotangents
  /// from other kernels are cast.
  DType dtype(std::size_t i) const { return dtypes_[i]; }

 private:
  const detail::NodePtr& node_;
  const Values& cotangents_;
  const std::vector<bool>& needed_;
  const std::vector<DType>& dtypes_;
};

}  // namespace mezzo
