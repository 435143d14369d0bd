#include <mezzo/compiler/inference/fold_scales.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>

#include <mezzo/compiler/inference/scaled_constants.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

// Exactness: s (W x) + t = (s W) x + t holds for real numbers. In floating point, the folded product has one rounding
// of each kernel element (s W, then to the kernel's dtype) in place of a rounding of the scaled sum, and one rounding
// of a bias. Each is at most one unit of the last place of a term, as are those of the sum itself, so the error bound
// of the product covers them. In bfloat16 and float16 the kernel is scaled in float32 and rounded once, and the array
// between product and scale is no longer rounded. A kernel that doesn't stay finite in its dtype is left alone. NaN
// and infinities of x reach the same outputs; a scale of 0 gives NaN for them in both forms.
namespace mezzo::detail {
namespace {

bool is_product(const Node& node) {
  if (node.attributes.has("epilogue") || node.inputs.size() > 3) return false;
  if (node.attributes.has("products")) return false;  // a scale would change how operands are quantized
  return is(node, ops::conv2d) || (is(node, ops::matmul) && node.inputs[1].shape().size() == 2);
}

/// The array y of y scale + shift, and these constants.
struct Scaling {
  Value y;
  ChannelScale by;
};

std::optional<Scaling> scaling_of_norm(const Node& node, FrozenConstants& constants) {
  if (!is(node, ops::batch_norm) || node.inputs.size() != 5 || node.attributes.get<bool>("training")) return {};
  if (node.attributes.has("epilogue")) return {};
  std::vector<Tensor> numbers;
  for (std::size_t i = 1; i < 5; ++i) {
    const Tensor* const value = frozen_value(*node.inputs[i].node());
    if (value == nullptr) return {};
    numbers.push_back(*value);
  }
  return Scaling{node.inputs[0], scale_of_norm(numbers, node.attributes.get<double>("epsilon"), constants)};
}

/// Multiplication, addition or subtraction of a constant that has a number for all or for each of the channels.
std::optional<Scaling> scaling_of(const Node& node, FrozenConstants& constants) {
  const bool multiplies = is(node, ops::multiply), subtracts = is(node, ops::subtract);
  if (!multiplies && !subtracts && !is(node, ops::add)) return scaling_of_norm(node, constants);
  for (std::size_t i = 0; i < (subtracts ? 1 : 2); ++i) {
    const Value &y = node.inputs[i], &constant = node.inputs[1 - i];
    const std::optional<Tensor> numbers = wide_constant(constant, constants);
    if (!numbers || y.shape() != node.outputs[0].shape || y.shape().empty()) continue;
    const std::int64_t channels = y.shape().back();
    const bool each = !constant.shape().empty() && constant.shape().back() == channels;
    if (numbers->size() != 1 && !(each && numbers->size() == channels)) continue;
    const auto scale = multiplies  ? scale_by(*numbers, channels, constants)
                       : subtracts ? shift_by(*numbers, channels, -1, constants)
                                   : shift_by(*numbers, channels, 1, constants);
    return Scaling{y, scale};
  }
  return {};
}

/// The axis of a product's kernel along which its output channels or its input channels lie.
std::size_t kernel_axis(const Node& product, bool of_output) {
  if (is(product, ops::conv2d)) return of_output ? 3 : 2;
  return product.attributes.get<bool>("transpose_b") == of_output ? 0 : 1;
}

/// The product with another kernel and bias; none if these numbers are not finite in the operands' dtypes.
Values with_kernel(const Node& product, const Value& kernel, const Tensor& wide, const std::optional<Tensor>& bias,
                   FrozenConstants& constants, Rewriter& to) {
  const Tensor narrow = as_dtype(wide, kernel.dtype(), constants);
  if (!is_finite(narrow) || (bias && !is_finite(*bias))) return {};
  Values inputs{product.inputs[0], to.add(frozen_leaf(narrow, product)).front()};
  if (bias) inputs.push_back(to.add(frozen_leaf(*bias, product)).front());
  return to.add(make_node(*product.op, std::move(inputs), product.attributes, product.outputs, product));
}

DType bias_dtype(const Node& product) { return accumulation_dtype(product.outputs[0].dtype); }

std::optional<Tensor> bias_of_product(const Node& product, FrozenConstants& constants) {
  return product.inputs.size() > 2 ? wide_constant(product.inputs[2], constants) : std::nullopt;
}

/// The convolution of codes with the scale in its scales and bias: its codes don't change.
Values with_scales(const Node& product, const ChannelScale& by, FrozenConstants& constants, Rewriter& to) {
  if (product.attributes.has("epilogue") || product.attributes.has("residual")) return {};
  const bool biased = product.attributes.get_or("bias", false);
  const std::size_t bias_at = product.inputs.size() - (biased ? 1 : 0);
  const Tensor* const scale = frozen_value(*product.inputs[2].node());
  const auto before = biased ? wide_constant(product.inputs[bias_at], constants) : std::nullopt;
  if (scale == nullptr || (biased && !before)) return {};
  const Tensor divided = divided_by(*scale, by.scale, constants);
  const auto bias = scaled_bias(before, by, bias_dtype(product), constants);
  if (!is_finite(divided) || (bias && !is_finite(*bias))) return {};
  Values inputs(product.inputs.begin(), product.inputs.begin() + static_cast<std::ptrdiff_t>(bias_at));
  inputs[2] = to.add(frozen_leaf(divided, product)).front();
  Attributes attributes = product.attributes;
  if (bias) {
    inputs.push_back(to.add(frozen_leaf(*bias, product)).front());
    attributes.set("bias", true);
  }
  return to.add(make_node(*product.op, std::move(inputs), std::move(attributes), product.outputs, product));
}

/// The product whose output `node` scales, with the scale in its kernel and bias.
Values fold_into_product_before(const NodePtr& old, const NodePtr& node, const Uses& uses, FrozenConstants& constants,
                                Rewriter& to) {
  const std::optional<Scaling> scaling = scaling_of(*node, constants);
  if (!scaling) return {};
  const bool of_codes = is(*scaling->y.node(), ops::quantized_conv2d);
  if (!of_codes && !is_product(*scaling->y.node())) return {};
  for (std::size_t i = 1; i < old->outputs.size(); ++i) {
    if (uses.of({old, static_cast<int>(i)}) > 0) return {};
  }
  const Node& product = *scaling->y.node();
  const std::size_t operand = node->inputs[0].same_as(scaling->y) ? 0 : 1;
  if (uses.of(old->inputs[operand]) != 1 || node->outputs[0] != product.outputs[0]) return {};
  if (of_codes) {
    const Values all = with_scales(product, scaling->by, constants, to);
    return all.empty() ? Values{} : Values(old->outputs.size(), all.front());
  }
  const std::optional<Tensor> kernel = wide_constant(product.inputs[1], constants);
  const std::optional<Tensor> bias = bias_of_product(product, constants);
  if (!kernel || (product.inputs.size() > 2 && !bias)) return {};
  const Tensor scaled = scaled_along(*kernel, kernel_axis(product, true), scaling->by.scale, constants);
  const Values all = with_kernel(product, product.inputs[1], scaled,
                                 scaled_bias(bias, scaling->by, bias_dtype(product), constants), constants, to);
  return all.empty() ? Values{} : Values(old->outputs.size(), all.front());
}

/// True if each output sums the same kernel elements: none is cut off at a border.
bool sums_whole_kernel(const Node& product) {
  return is(product, ops::matmul) || product.attributes.get<Shape>("padding") == Shape{0, 0, 0, 0};
}

/// The product of a scaled array, with the scale in its kernel and bias.
Values fold_into_product_behind(const NodePtr& node, FrozenConstants& constants, Rewriter& to) {
  if (!is_product(*node)) return {};
  if (is(*node, ops::matmul) ? node->attributes.get<bool>("transpose_a")
                             : node->attributes.get<std::int64_t>("groups") != 1) {
    return {};
  }
  const Value& x = node->inputs[0];
  const std::optional<Scaling> scaling = scaling_of(*x.node(), constants);
  if (!scaling || x.output() != 0 || scaling->y.dtype() != x.dtype()) return {};
  const std::optional<Tensor> kernel = wide_constant(node->inputs[1], constants);
  const std::optional<Tensor> bias = bias_of_product(*node, constants);
  if (!kernel || (node->inputs.size() > 2 && !bias)) return {};
  if (scaling->by.shifts && !sums_whole_kernel(*node)) return {};
  const std::size_t axis = kernel_axis(*node, false);
  const Tensor scaled = scaled_along(*kernel, axis, scaling->by.scale, constants);
  std::optional<Tensor> shifted = bias;
  if (scaling->by.shifts) {
    shifted =
        shifted_bias(bias, *kernel, axis, kernel_axis(*node, true), scaling->by.shift, bias_dtype(*node), constants);
  }
  const NodePtr unscaled = make_node(*node->op, node->inputs, node->attributes, node->outputs, *node);
  unscaled->inputs[0] = scaling->y;
  return with_kernel(*unscaled, node->inputs[1], scaled, shifted, constants, to);
}

}  // namespace

Graph fold_scales(const Graph& graph, FrozenConstants& constants) {
  const Uses uses(graph);
  return rewrite(graph, [&](const NodePtr& old, const NodePtr& node, Rewriter& to) -> Values {
    Values folded = fold_into_product_before(old, node, uses, constants, to);
    if (!folded.empty()) return folded;
    NodePtr product = node;
    for (Values next; !(next = fold_into_product_behind(product, constants, to)).empty(); product = next[0].node()) {
      folded = next;
    }
    return folded;
  });
}

}  // namespace mezzo::detail
