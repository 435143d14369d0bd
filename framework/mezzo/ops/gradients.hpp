#pragma once
#include <mezzo/graph/node.hpp>

namespace mezzo {

/// Gradients of `loss` (a scalar; or of the sum of its elements) with respect to each of `xs`, as ops inserted into
/// the running trace; zeros where it doesn't depend on one. `seed` multiplies the start of the backward pass (the loss
/// scale). A gradient has its value's dtype; that of a float32 variable stays float32 even where a low-precision copy
/// of it is computed with. A ValueError outside of a trace. Implemented by compiler/.
Values gradients(const Value& loss, const Values& xs, const Value& seed = Value(1.0));

/// The same, but undefined where the loss doesn't depend on an x.
Values partial_gradients(const Value& loss, const Values& xs, const Value& seed);

/// What a gradient function sees.
class GradientContext {
 public:
  GradientContext(const NodePtr& node, const Values& cotangents, const std::vector<bool>& needed,
                  const std::vector<DType>& dtypes)
      : node_(node), cotangents_(cotangents), needed_(needed), dtypes_(dtypes) {}

  const Attributes& attributes() const { return node_->attributes; }
  std::size_t input_count() const { return node_->inputs.size(); }
  const Value& input(std::size_t i) const { return node_->inputs[i]; }
  Value output(int i = 0) const { return {node_, i}; }
  const Spec& output_spec(std::size_t i = 0) const { return node_->outputs[i]; }

  /// The cotangent of output i; undefined if nothing depends on that output.
  const Value& cotangent(std::size_t i = 0) const { return cotangents_[i]; }

  /// Whether anybody asks for the cotangent of input i.
  bool needs(std::size_t i) const { return needed_[i]; }

  /// The dtype that it is to have. Kernels that accumulate (matmul, conv2d, sum) write it directly.
  DType dtype(std::size_t i) const { return dtypes_[i]; }

 private:
  const NodePtr& node_;
  const Values& cotangents_;
  const std::vector<bool>& needed_;
  const std::vector<DType>& dtypes_;
};

}  // namespace mezzo
