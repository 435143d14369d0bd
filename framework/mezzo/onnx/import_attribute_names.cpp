#include <algorithm>
#include <array>
#include <string_view>

#include <mezzo/onnx/import_operators.hpp>

namespace mezzo::detail {
namespace {

/// Operators with the attributes that they have here, with spaces between them. Other operators have none.
struct AttributeRow {
  std::string_view operators, attributes;
};

constexpr std::array attribute_rows{
    AttributeRow{"Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Mul Or Pow "
                 "Sub Xor",
                 "axis broadcast"},
    AttributeRow{"AffineGrid", "align_corners"},
    AttributeRow{"ArgMax ArgMin", "axis keepdims select_last_index"},
    AttributeRow{"AveragePool", "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    AttributeRow{"BatchNormalization", "epsilon is_test momentum spatial training_mode"},
    AttributeRow{"Bernoulli", "dtype seed"},
    AttributeRow{"BitShift", "direction"},
    AttributeRow{"BlackmanWindow HammingWindow HannWindow", "output_datatype periodic"},
    AttributeRow{"Cast", "saturate to"},
    AttributeRow{"CastLike", "saturate"},
    AttributeRow{"Celu Elu LeakyRelu ThresholdedRelu", "alpha"},
    AttributeRow{"CenterCropPad", "axes"},
    AttributeRow{"Clip", "max min"},
    AttributeRow{"Col2Im", "dilations pads strides"},
    AttributeRow{"Compress Concat Gather GatherElements Hardmax LogSoftmax OneHot Softmax Flatten", "axis"},
    AttributeRow{"Constant", "value value_float value_floats value_int value_ints"},
    AttributeRow{"ConstantOfShape", "value"},
    AttributeRow{"Conv ConvInteger QLinearConv", "auto_pad dilations group kernel_shape pads strides"},
    AttributeRow{"ConvTranspose", "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    AttributeRow{"CumSum", "exclusive reverse"},
    AttributeRow{"DFT", "axis inverse onesided"},
    AttributeRow{"DepthToSpace", "blocksize mode"},
    AttributeRow{"DequantizeLinear", "axis block_size"},
    AttributeRow{"Dropout", "is_test ratio seed"},
    AttributeRow{"Einsum", "equation"},
    AttributeRow{"EyeLike", "dtype k"},
    AttributeRow{"GRU",
                 "activation_alpha activation_beta activations clip direction hidden_size layout "
                 "linear_before_reset"},
    AttributeRow{"GatherND", "batch_dims"},
    AttributeRow{"Gelu", "approximate"},
    AttributeRow{"Gemm", "alpha beta broadcast transA transB"},
    AttributeRow{"GlobalLpPool", "p"},
    AttributeRow{"GridSample", "align_corners mode padding_mode"},
    AttributeRow{"GroupNormalization", "epsilon num_groups stash_type"},
    AttributeRow{"HardSigmoid", "alpha beta"},
    AttributeRow{"If", "else_branch then_branch"},
    AttributeRow{"InstanceNormalization", "epsilon"},
    AttributeRow{"IsInf", "detect_negative detect_positive"},
    AttributeRow{"LRN", "alpha beta bias size"},
    AttributeRow{"LSTM", "activation_alpha activation_beta activations clip direction hidden_size input_forget layout"},
    AttributeRow{"LayerNormalization", "axis epsilon stash_type"},
    AttributeRow{"Loop", "body"},
    AttributeRow{"LpNormalization", "axis p"},
    AttributeRow{"LpPool", "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    AttributeRow{"MaxPool", "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    AttributeRow{"MaxUnpool", "kernel_shape pads strides"},
    AttributeRow{"MeanVarianceNormalization", "axes"},
    AttributeRow{"Mod", "fmod"},
    AttributeRow{"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "ignore_index reduction"},
    AttributeRow{"NonMaxSuppression", "center_point_box"},
    AttributeRow{"Pad", "mode pads value"},
    AttributeRow{"QuantizeLinear", "axis block_size output_dtype saturate"},
    AttributeRow{"RNN", "activation_alpha activation_beta activations clip direction hidden_size layout"},
    AttributeRow{"RandomNormal RandomNormalLike", "dtype mean scale seed shape"},
    AttributeRow{"RandomUniform RandomUniformLike", "dtype high low seed shape"},
    AttributeRow{"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
                 "ReduceSumSquare",
                 "axes keepdims noop_with_empty_axes"},
    AttributeRow{"Reshape", "allowzero shape"},
    AttributeRow{"Resize",
                 "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
                 "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    AttributeRow{"ReverseSequence", "batch_axis time_axis"},
    AttributeRow{"RoiAlign",
                 "coordinate_transformation_mode mode output_height output_width sampling_ratio "
                 "spatial_scale"},
    AttributeRow{"STFT", "onesided"},
    AttributeRow{"Scan",
                 "body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes "
                 "scan_output_directions"},
    AttributeRow{"Scatter ScatterElements", "axis reduction"},
    AttributeRow{"ScatterND", "reduction"},
    AttributeRow{"Selu", "alpha gamma"},
    AttributeRow{"Shape", "end start"},
    AttributeRow{"Shrink", "bias lambd"},
    AttributeRow{"Slice", "axes ends starts"},
    AttributeRow{"SpaceToDepth", "blocksize"},
    AttributeRow{"Split", "axis num_outputs split"},
    AttributeRow{"Squeeze Unsqueeze", "axes"},
    AttributeRow{"TopK", "axis k largest sorted"},
    AttributeRow{"Transpose", "perm"},
    AttributeRow{"Trilu", "upper"},
    AttributeRow{"Unique", "axis sorted"},
    AttributeRow{"Upsample", "mode scales"}};

/// True for a list with that word.
bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

bool has_onnx_attribute(const std::string& op, const std::string& attribute) {
  return std::any_of(attribute_rows.begin(), attribute_rows.end(), [&](const AttributeRow& row) {
    return has_word(row.operators, op) && has_word(row.attributes, attribute);
  });
}

}  // namespace mezzo::detail
