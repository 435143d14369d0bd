#include <mezzo/backends/reference/implementations.hpp>

#include <mezzo/backends/reference/creators.hpp>

namespace mezzo {

std::vector<Implementation> reference_implementations() {
  using namespace reference;
  const char* const name = "reference";
  return {
      {name, "add", create_add},
      {name, "subtract", create_subtract},
      {name, "multiply", create_multiply},
      {name, "divide", create_divide},
      {name, "equal", create_equal},
      {name, "relu", create_relu},
      {name, "relu_gradient", create_relu_gradient},
      {name, "relu_bias_gradient", create_relu_bias_gradient},
      {name, "exp", create_exp},
      {name, "log", create_log},
      {name, "negative", create_negative},
      {name, "abs", create_abs},
      {name, "sign", create_sign},
      {name, "tanh", create_tanh},
      {name, "tanh_gradient", create_tanh_gradient},
      {name, "sigmoid", create_sigmoid},
      {name, "sigmoid_gradient", create_sigmoid_gradient},
      {name, "gelu", create_gelu},
      {name, "gelu_gradient", create_gelu_gradient},
      {name, "cast", create_cast},
      {name, "reshape", create_view},
      {name, "identity", create_view},
      {name, "stop_gradient", create_view},
      {name, "transpose", create_transpose},
      {name, "broadcast_to", create_broadcast_to},
      {name, "concat", create_concat},
      {name, "pad", create_pad},
      {name, "slice", create_slice},
      {name, "split", create_split},
      {name, "where", create_where},
      {name, "gather", create_gather},
      {name, "gather_gradient", create_gather_gradient},
      {name, "gather_gradient_rows", create_gather_gradient_rows},
      {name, "sum", create_sum},
      {name, "mean", create_mean},
      {name, "argmax", create_argmax},
      {name, "matmul", create_matmul},
      {name, "conv2d", create_conv2d},
      {name, "conv2d_input_gradient", create_conv2d_input_gradient},
      {name, "conv2d_kernel_gradient", create_conv2d_kernel_gradient},
      {name, "avg_pool2d", create_avg_pool2d},
      {name, "avg_pool2d_gradient", create_avg_pool2d_gradient},
      {name, "max_pool2d", create_max_pool2d},
      {name, "max_pool2d_gradient", create_max_pool2d_gradient},
      {name, "batch_norm", create_batch_norm},
      {name, "batch_norm_gradient", create_batch_norm_gradient},
      {name, "layer_norm", create_layer_norm},
      {name, "layer_norm_gradient", create_layer_norm_gradient},
      {name, "scaled_dot_product_attention", create_attention},
      {name, "scaled_dot_product_attention_gradient", create_attention_gradient},
      {name, "softmax", create_softmax},
      {name, "softmax_gradient", create_softmax_gradient},
      {name, "dropout", create_dropout},
      {name, "sparse_categorical_crossentropy", create_sparse_categorical_crossentropy},
      {name, "sparse_categorical_crossentropy_gradient", create_sparse_categorical_crossentropy_gradient},
      {name, "all_finite", create_all_finite},
      {name, "gradient_multiplier", create_gradient_multiplier},
      {name, "sgd_update", create_sgd_update},
      {name, "adam_update", create_adam_update},
  };
}

}  // namespace mezzo
